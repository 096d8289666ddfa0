// Keep what this page of Learn needs, so that it opens again without a network.
const KEPT = "emi-learn-1";
const NEEDED = /^\/(learn|assets|files\/practice)\//;

async function keepThisPage() {
  await navigator.serviceWorker.register("/learn/worker.js", { scope: "/learn/" });
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  const months = JSON.parse(document.getElementById("practice")?.dataset.months ?? "[]").slice(0, 1);
  const files = months.flatMap((month) => [month.items, month.truths]);
  const wanted = [location.pathname, ...loaded, ...files].map((address) => new URL(address, location.href));
  const needed = wanted.filter((url) => url.origin === location.origin && NEEDED.test(url.pathname));
  await (await caches.open(KEPT)).addAll([...new Set(needed.map(String))]);
  document.documentElement.dataset.offline = "kept";
}

if (navigator.serviceWorker) addEventListener("load", () => keepThisPage().catch(() => {}));
