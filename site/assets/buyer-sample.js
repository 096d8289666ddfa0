// A whole document for free: the beginning of a short one next to the price, all of any on a button.

import { blocks, draw, element, plotted } from "./buyer-report.js";
import { when } from "./buyer-tables.js";
import { ask } from "./buyer-wire.js";

const at = (id) => document.getElementById(id);
const LINES = 12; // of JSON, as a glimpse
let loaded = null;

async function load() {
  const answer = await ask(at("sample-json").getAttribute("href"));
  if (answer.status !== 200) throw new Error();
  return answer.body;
}

// The first sentences and the first plot, or the first lines of what a program reads.
function glimpse(body) {
  const { report } = body;
  const made = [element("p", report?.verdict || body.headline, "verdict")];
  if (report?.plots?.length) {
    const plot = plotted({ ...report.plots[0], as_of: report.as_of });
    return [...made, ...draw([{ ...plot, names: [], rows: [] }])];
  }
  const inner =
    body.intelligence_layer?.regime || body.summary?.biases
      ? body.intelligence_layer?.regime || body.summary
      : body.regime;
  const text = JSON.stringify(inner, null, 2).split("\n").slice(0, LINES).join("\n");
  return [...made, element("pre", `${text}\n…`, "code")];
}

export async function peek() {
  try {
    loaded = await load();
    at("peek-shown").replaceChildren(element("p", loaded.sample_note, "small"), ...glimpse(loaded));
  } catch {
    at("peek").classList.add("bare"); // the sample is still behind its link
  }
}

export async function sample() {
  const button = at("show-sample");
  const where = at("sample-report");
  button.disabled = true;
  try {
    const bundled = loaded || (await load());
    const report = bundled.report && {
      ...bundled.report,
      title: `The crypto market on ${when(bundled.as_of)}, in plain words`,
    };
    where.replaceChildren(
      element("p", bundled.sample_note, "mode-note"),
      ...draw(blocks({ ...bundled, ...(report && { report }) }, "A sample", [])),
    );
    where.hidden = false;
    button.hidden = true;
    where.focus({ preventScroll: true });
    where.scrollIntoView();
  } catch {
    at("sample-state").textContent = "The sample cannot be loaded right now. Try again shortly.";
    button.disabled = false;
  }
}
