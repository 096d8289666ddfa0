// Audit pages by Lighthouse's whole category for agents, in one browser.
// Usage: node lighthouse.mjs CHROMIUM URL...; one JSON object comes out: of each URL its score, and what failed.
import { launch } from "chrome-launcher";
import lighthouse from "lighthouse";

const [, , chromePath, ...urls] = process.argv;
const chromeFlags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
const browser = await launch({ chromePath, chromeFlags });
const found = {};
try {
  for (const url of urls) {
    const options = { port: browser.port, logLevel: "error", onlyCategories: ["agentic-browsing"] };
    const { lhr } = await lighthouse(url, options);
    const { score, auditRefs } = lhr.categories["agentic-browsing"];
    const audits = auditRefs.map(({ id }) => lhr.audits[id]);
    const judged = audits.filter((audit) => audit.score !== null);
    const failed = judged.filter((audit) => audit.score < 1);
    found[url] = {
      score,
      judged: judged.map((audit) => audit.id),
      failed: failed.map(({ id, displayValue, details }) => ({ id, displayValue, details })),
      error: lhr.runtimeError?.message ?? audits.find((audit) => audit.errorMessage)?.errorMessage ?? null,
    };
  }
} finally {
  browser.kill();
}
console.log(JSON.stringify(found));
