// A whole report for free, shown on a button.

import { blocks, draw, element } from "./buyer-report.js";
import { when } from "./buyer-tables.js";
import { ask } from "./buyer-wire.js";

const at = (id) => document.getElementById(id);

export async function sample() {
  const button = at("show-sample");
  const where = at("sample-report");
  button.disabled = true;
  try {
    const answer = await ask(button.dataset.from);
    const bundled = await answer.json();
    if (answer.status !== 200) throw new Error();
    const report = { ...bundled.report, title: `The crypto market on ${when(bundled.as_of)}, in plain words` };
    where.replaceChildren(element("p", bundled.sample_note, "mode-note"), ...draw(blocks({ ...bundled, report }, "A sample", [])));
    where.hidden = false;
    button.hidden = true;
    where.focus({ preventScroll: true });
  } catch {
    at("sample-state").textContent = "The sample cannot be loaded right now. Try again shortly.";
    button.disabled = false;
  }
}
