// Keep what this page of Learn needs, and the pages of Learn that it leads to, so that they open without a network.
const KEPT = "emi-learn-1";
const NEEDED = /^\/(learn|assets|files\/practice)\//;
const PARTS = /(?:src|href)="(\/assets\/[^"]+)"|from "\.\/([^"]+)"/g; // of a page, and of a script

async function keepThisPage() {
  await navigator.serviceWorker.register("/learn/worker.js", { scope: "/learn/" });
  const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  const months = JSON.parse(document.getElementById("practice")?.dataset.months ?? "[]").slice(0, 1);
  const files = months.flatMap((month) => [month.items, month.truths]);
  const wanted = [location.pathname, ...loaded, ...files].map((address) => new URL(address, location.href));
  const needed = wanted.filter((url) => url.origin === location.origin && NEEDED.test(url.pathname));

  const kept = await caches.open(KEPT);
  await kept.addAll([...new Set(needed.map(String))]);
  for (const link of document.querySelectorAll('main a[href^="/learn/"]')) {
    if (link.pathname.endsWith("/")) await keepOnce(kept, link.pathname);
  }
  document.documentElement.dataset.offline = "kept";
}

// What is kept already stays: a page is renewed when it is opened.
async function keepOnce(kept, address) {
  if (await kept.match(address)) return;
  const answer = await fetch(address);
  if (!answer.ok) return;
  const text = await answer.clone().text();
  await kept.put(address, answer);
  for (const [, named, imported] of text.matchAll(PARTS)) await keepOnce(kept, named ?? `/assets/${imported}`);
}

if (navigator.serviceWorker) addEventListener("load", () => keepThisPage().catch(() => {}));
