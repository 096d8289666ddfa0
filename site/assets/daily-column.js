// The column of the daily question: two bands in dollars, moved by finger, mouse or keys, kept in hundredths of a percent.
import { element, percent } from "./practice-draw.js";

export const ENDS = ["low_90", "low_50", "high_50", "high_90"];
const LABELS = {
  low_90: "Outer band, low end",
  low_50: "Inner band, low end",
  high_50: "Inner band, high end",
  high_90: "Outer band, high end",
};
const STEP = 5; // hundredths of a percent, by an arrow key
const LEAP = 50; // by a page key

const DOLLARS = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: 0 });
export const dollars = (price) => DOLLARS.format(price);
export const priceAt = (base, hundredths) => base * (1 + hundredths / 10_000);

// Move one end; the four stay in order, so it takes the others along.
export function withEnd(ends, name, value) {
  const place = ENDS.indexOf(name);
  const push = (other, at) => {
    if (at === place) return value;
    return at < place ? Math.min(ends[other], value) : Math.max(ends[other], value);
  };
  return Object.fromEntries(ENDS.map((other, at) => [other, push(other, at)]));
}

export class Column {
  // `about` holds what the page gives of the picture as text; `changed` is called with the ends after each move.
  constructor(place, about, ends, changed) {
    const numbers = ["base", "low", "high", "most"].map((name) => Number(about[name]));
    [this.base, this.low, this.high, this.most] = numbers;
    this.place = place;
    this.ends = ends;
    this.changed = changed;

    const [top, bottom, left, right] = about.column.split(" ").map(Number);
    Object.assign(place.style, {
      top: `${top}%`,
      left: `${left}%`,
      width: `${right - left}%`,
      height: `${bottom - top}%`,
    });

    this.outer = element("div", "", { className: "daily-band outer" });
    this.inner = element("div", "", { className: "daily-band inner" });
    this.handles = Object.fromEntries(ENDS.map((name) => [name, this.handle(name)]));
    place.replaceChildren(this.outer, this.inner, ...Object.values(this.handles));
    place.addEventListener("pointerdown", (event) => this.begin(event));
    place.addEventListener("pointermove", (event) => this.drag(event));
    for (const over of ["pointerup", "pointercancel"]) place.addEventListener(over, () => (this.dragged = null));
    this.draw();
  }

  handle(name) {
    const kind = `${name.endsWith("90") ? "outer" : "inner"} ${name.startsWith("low") ? "low" : "high"}`;
    const made = element("div", "", { className: `daily-end ${kind}`, tabIndex: 0 });
    const about = { role: "slider", "aria-label": LABELS[name], "aria-orientation": "vertical" };
    about["aria-valuemin"] = -this.most;
    about["aria-valuemax"] = this.most;
    for (const [key, value] of Object.entries(about)) made.setAttribute(key, value);
    made.dataset.end = name;
    made.addEventListener("keydown", (event) => this.key(event, name));
    return made;
  }

  // Where a move lies in the column, in percent from its top.
  at(hundredths) {
    return (100 * (this.high - priceAt(this.base, hundredths))) / (this.high - this.low);
  }

  moveAt(clientY) {
    const box = this.place.getBoundingClientRect();
    const price = this.high - ((clientY - box.top) / box.height) * (this.high - this.low);
    return this.bounded(Math.round(10_000 * (price / this.base - 1)));
  }

  bounded(hundredths) {
    return Math.max(-this.most, Math.min(this.most, hundredths));
  }

  set(name, value) {
    this.ends = withEnd(this.ends, name, this.bounded(value));
    this.draw();
    this.changed(this.ends);
  }

  // The nearest end; of two at one place the one on the side of the press.
  nearest(move) {
    const far = (name) => Math.abs(this.ends[name] - move);
    const least = Math.min(...ENDS.map(far));
    const near = ENDS.filter((name) => far(name) === least);
    return move > this.ends[near[0]] ? near.at(-1) : near[0];
  }

  // A press on a handle takes its end; one elsewhere takes the nearest.
  begin(event) {
    if (event.button) return;
    const move = this.moveAt(event.clientY);
    this.dragged = event.target.dataset.end || this.nearest(move);

    event.preventDefault();
    this.place.setPointerCapture(event.pointerId);
    this.handles[this.dragged].focus({ preventScroll: true });
    this.set(this.dragged, move);
  }

  drag(event) {
    if (this.dragged) this.set(this.dragged, this.moveAt(event.clientY));
  }

  key(event, name) {
    const by = {
      ArrowUp: STEP,
      ArrowRight: STEP,
      ArrowDown: -STEP,
      ArrowLeft: -STEP,
      PageUp: LEAP,
      PageDown: -LEAP,
      Home: -2 * this.most,
      End: 2 * this.most,
    }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.set(name, this.ends[name] + by);
  }

  span(band, low, high) {
    Object.assign(band.style, { top: `${this.at(high)}%`, height: `${this.at(low) - this.at(high)}%` });
  }

  draw() {
    this.span(this.outer, this.ends.low_90, this.ends.high_90);
    this.span(this.inner, this.ends.low_50, this.ends.high_50);
    for (const [name, handle] of Object.entries(this.handles)) {
      const end = this.ends[name];
      handle.style.top = `${this.at(end)}%`;
      handle.setAttribute("aria-valuenow", end);
      handle.setAttribute("aria-valuetext", `${dollars(priceAt(this.base, end))}, ${percent(end / 100)}`);
    }
  }

  // Lay what the brain says over it; only after an answer.
  showBrain(ends) {
    const bands = [
      ["low_90", "high_90"],
      ["low_50", "high_50"],
    ].map(([low, high]) => {
      const band = element("div", "", { className: "daily-band brain" });
      this.span(band, ends[low], ends[high]);
      return band;
    });
    for (const old of this.place.querySelectorAll(".brain")) old.remove();
    this.inner.after(...bands);
  }
}
