// Safari deletes what a page keeps after seven days without a visit, other browsers when the disk is full. So the browser
// is asked to keep it, and a copy is offered after the third answer until one was saved.
import { save } from "./reminder.js";
import { keptKey, keyFile } from "./vote-key.js";

const AFTER = 3;
const COPIED = "emi-copied";

function copied() {
  try {
    return JSON.parse(localStorage.getItem(COPIED)) || {};
  } catch {
    return {};
  }
}

export function noteCopy(what) {
  try {
    localStorage.setItem(COPIED, JSON.stringify({ ...copied(), [what]: true }));
  } catch {
    // it keeps nothing: the copy is all there is
  }
}

let isAsked = false;

// Without https there is no such question.
async function askToStay() {
  if (isAsked || !navigator.storage?.persist) return;
  isAsked = true;
  if (!(await navigator.storage.persisted())) await navigator.storage.persist();
}

// Whether to offer a copy of what so many answers made.
export function isCopyDue(what, answers) {
  if (answers < AFTER) return false;
  askToStay().catch(() => {});
  return !copied()[what];
}

// Save the key of this browser as a file; false where there is none that can be kept.
export async function saveKey() {
  const key = await keptKey();
  const file = key && (await keyFile(key));
  if (!file) return false;
  save(file, "emi-voter-key.json");
  noteCopy("key");
  return true;
}
