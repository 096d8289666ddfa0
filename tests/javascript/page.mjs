// As much of a page as the scripts ask for: nodes by id, texts, values, events; and a storage that keeps texts.
export class Node {
  constructor(name = "div") {
    Object.assign(this, { name, children: [], dataset: {}, elements: {}, hidden: true, disabled: false, value: "" });
    this.attributes = {};
    this.style = {};
    this.told = {};
    this.own = "";
    this.classList = { contains: () => false };
  }

  get textContent() {
    return this.own + this.children.map((child) => child.textContent ?? child).join(" ");
  }

  set textContent(words) {
    this.own = words;
  }

  append(...parts) {
    this.children.push(...parts);
  }

  replaceChildren(...parts) {
    this.own = "";
    this.children = parts;
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  addEventListener(name, call) {
    this.told[name] = call;
  }

  querySelectorAll() {
    return [];
  }

  after() {}

  get childElementCount() {
    return this.children.length;
  }
}

// Stand in for the browser; `answers` maps a path to what the site answers, and `asked` notes each request.
export function browser(nodes, answers = {}) {
  const asked = [];
  const kept = new Map();
  const globals = {
    document: {
      body: new Node("body"),
      getElementById: (id) => (id in nodes ? nodes[id] : (nodes[id] = new Node())),
      createElement: (name) => new Node(name),
      createElementNS: (_, name) => new Node(name),
      querySelector: (selector) => nodes[selector] ?? null,
      querySelectorAll: () => [],
      addEventListener: () => {},
    },
    localStorage: { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) },
    location: { pathname: "/arena/", host: "a.example", origin: "https://a.example" },
    indexedDB: {
      open: () => {
        const opening = {};
        queueMicrotask(() => opening.onerror());
        return opening;
      },
    },
    fetch: async (path, { headers = {} } = {}) => {
      asked.push({ path, headers });
      const answer = answers[path.split("?")[0]];
      const { status = 200, body = {} } = typeof answer === "function" ? answer(path, headers) : (answer ?? {});
      return { ok: status < 400, status, json: async () => body };
    },
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return { asked, kept };
}

export async function until(is) {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 1));
}
