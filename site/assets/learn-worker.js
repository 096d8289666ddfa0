// Learn without a network: pages of /learn/ as they were read last. Nothing else of this site is kept, so that no
// answer, price or vote is ever older than it says.
const KEPT = "emi-learn-1";
const LASTING = /^\/(assets|files\/practice)\//; // named by their content
const PAGES = /^\/learn\//;
const SILENCE_MS = 3_000; // a network that says nothing for so long counts as none
const MOST_KEPT = 120; // files: about three times what all of Learn needs
const KEPT_DAYS = 60;
const DAY_MS = 86_400_000;

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));

self.addEventListener("activate", (event) => event.waitUntil(begin()));

self.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== self.location.origin) return;
  if (LASTING.test(pathname)) event.respondWith(lasting(event.request));
  else if (PAGES.test(pathname)) event.respondWith(newest(event));
});

async function begin() {
  for (const name of await caches.keys()) {
    if (name.startsWith("emi-learn-") && name !== KEPT) await caches.delete(name);
  }
  await trim();
  await self.clients.claim();
}

async function lasting(request) {
  return (await caches.match(request)) ?? keep(request, await fetch(request));
}

// The page as it is now; as it was kept where the network fails or is silent. A late answer still renews what is kept.
async function newest(event) {
  const { request } = event;
  const answer = fetch(request).then((received) => keep(request, received));
  event.waitUntil(answer.then(trim).catch(() => {}));

  const silence = new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
  const inTime = await Promise.race([answer.catch(() => undefined), silence]);
  return inTime ?? (await caches.match(request, { ignoreSearch: true })) ?? answer;
}

async function keep(request, answer) {
  if (answer.ok) await (await caches.open(KEPT)).put(request, answer.clone());
  return answer;
}

// Files of earlier releases go: the oldest above the most, and what is older than so many days.
async function trim() {
  const kept = await caches.open(KEPT);
  const requests = await kept.keys(); // as they were kept, the oldest first
  const over = requests.length - MOST_KEPT;
  for (const [place, request] of requests.entries()) {
    const answer = await kept.match(request);
    const made = Date.parse(answer?.headers.get("date"));
    if (place < over || Date.now() - made > KEPT_DAYS * DAY_MS) await kept.delete(request);
  }
}
