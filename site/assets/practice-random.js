// Real or random: twenty charts, about half of which have their steps shuffled.
import { element, pathOf, say, wilson } from "./practice-draw.js";

const CHARTS = 20;
const charts = { number: 0, right: 0 }; // of the round that is played

// The same steps in another order: what is lost is how wild hours follow wild ones.
function shuffled(prices) {
  const steps = prices.slice(1).map((price, hour) => price / prices[hour]);
  for (let last = steps.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [steps[last], steps[other]] = [steps[other], steps[last]];
  }
  const path = [prices[0]];
  for (const step of steps) path.push(path.at(-1) * step);
  return path;
}

export async function showChart(allItems, before = "") {
  const where = document.getElementById("practice-random");
  let all;
  try {
    all = await allItems();
  } catch {
    say(where, element("p", "The hours cannot be read now. Reload this page once you are online."));
    return;
  }
  const { prices } = all[Math.floor(Math.random() * all.length)];
  const real = Math.random() < 0.5;
  const buttons = element("p", "", { className: "practice-buttons" });
  for (const [word, guess] of [
    ["As it was", true],
    ["Shuffled", false],
  ]) {
    const one = element("button", word, { type: "button" });
    one.addEventListener("click", () => judgeChart(allItems, real, guess));
    buttons.append(one);
  }
  const title = element("p", `${before}Chart ${charts.number + 1} of ${CHARTS}`);
  say(where, title, pathOf(real ? prices : shuffled(prices)), buttons);
}

function judgeChart(allItems, real, guess) {
  charts.number += 1;
  charts.right += real === guess ? 1 : 0;
  const last = `${real === guess ? "Right" : "Wrong"}: it was ${real ? "as it was" : "shuffled"}. `;
  if (charts.number < CHARTS) {
    showChart(allItems, last);
    return;
  }
  const [low, high] = wilson(charts.right, CHARTS).map((share) => Math.round(100 * share));
  say(
    document.getElementById("practice-random"),
    element("p", `${last}You were right in ${charts.right} of ${CHARTS} (95% interval ${low} to ${high}%).`),
    element("p", "Guessing gives 10 of 20 on average, and 15 or more in 2 of 100 rounds."),
  );
  Object.assign(charts, { number: 0, right: 0 });
}
