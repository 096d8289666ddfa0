// How close a guess was, and which questions of the chapters were answered in this browser.
const KEPT = "emi-chapters";
const CLOSE = 0.05; // of the slider
const NEAR = 0.15;

// A number with as many decimals as a slider's step has.
export function shown(value, step) {
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const words = Math.abs(value).toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return value < 0 && Number(words.replaceAll(",", "")) ? `\u2212${words}` : words;
}

// Where a guess lies against the answer; `low` and `high` are what luck allows the answer's count, where that is known.
export function judge(value, { answer, low, high, least, most, step, words }) {
  const said = `You said ${words.replace("{}", shown(value, step))}`;
  const truth = words.replace("{}", shown(answer, step));
  const rounded = Math.round(answer / step) * step; // as it is shown, so that the difference is that of the two numbers
  const off = shown(Math.abs(value - rounded), step);
  if (shown(value, step) === shown(answer, step)) return { isClose: true, words: `${said}: just right.` };

  const side = value > answer ? "high" : "low";
  if (low !== undefined && low <= value && value <= high) {
    const span = `${shown(low, step)} to ${shown(high, step)}`;
    return { isClose: true, words: `${said}; it is ${truth}: close, inside the ${span} that luck allows.` };
  }
  const part = Math.abs(value - answer) / (most - least);
  if (part <= CLOSE) return { isClose: true, words: `${said}; it is ${truth}: close.` };
  return { isClose: false, words: `${said}; it is ${truth}: ${part <= NEAR ? "not far, " : ""}${off} too ${side}.` };
}

// What was answered: { last: chapter, chapters: { name: { of, answered: { place: was the guess close, null without } } } }.
let unkept = null; // where a browser keeps nothing

export function marks() {
  if (unkept) return unkept;
  try {
    const found = JSON.parse(localStorage.getItem(KEPT));
    if (found?.chapters) return found;
  } catch {
    // it keeps nothing, or something else
  }
  return { last: null, chapters: {} };
}

function keep(all) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(all));
  } catch {
    unkept = all;
  }
}

export function mark(name, of, place, isClose) {
  const all = marks();
  const before = all.chapters[name] ?? { answered: {} };
  const answered = { ...before.answered, [place]: isClose ?? before.answered[place] ?? null };
  const places = Object.entries(answered).filter(([at]) => Number(at) < of); // a chapter may ask fewer than it did
  keep({ last: name, chapters: { ...all.chapters, [name]: { of, answered: Object.fromEntries(places) } } });
}

export const isDone = (chapter) => Boolean(chapter) && Object.keys(chapter.answered).length >= chapter.of;

export function summary(chapter) {
  if (!chapter) return "";
  const guesses = Object.values(chapter.answered).filter((isClose) => isClose !== null);
  const close = guesses.filter(Boolean).length;
  const number = Object.keys(chapter.answered).length;
  const judged = guesses.length ? `; ${close} of ${guesses.length} guesses close` : "";
  return isDone(chapter) ? `Chapter done${judged}.` : `${number} of ${chapter.of} answered${judged}.`;
}

// Where to resume: the last chapter while it is not done, else the first that is not; null once all are, or none is begun.
export function next(names) {
  const { last, chapters } = marks();
  if (!last) return null;
  if (names.includes(last) && !isDone(chapters[last])) return last;
  return names.find((name) => !isDone(chapters[name])) ?? null;
}
