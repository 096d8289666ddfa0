// Learn without a network: pages of /learn/ as they were read last. Nothing else of this site is kept, so that no
// answer, price or vote is ever older than it says.
const KEPT = "emi-learn-1";
const LASTING = /^\/(assets|files\/practice)\//; // named by their content
const PAGES = /^\/learn\//;

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));

self.addEventListener("activate", (event) => event.waitUntil(begin()));

self.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  if (event.request.method !== "GET" || origin !== self.location.origin) return;
  if (LASTING.test(pathname)) event.respondWith(lasting(event.request));
  else if (PAGES.test(pathname)) event.respondWith(newest(event.request));
});

async function begin() {
  for (const name of await caches.keys()) {
    if (name.startsWith("emi-learn-") && name !== KEPT) await caches.delete(name);
  }
  await self.clients.claim();
}

async function lasting(request) {
  return (await caches.match(request)) ?? keep(request, await fetch(request));
}

async function newest(request) {
  try {
    return await keep(request, await fetch(request));
  } catch (error) {
    const kept = await caches.match(request, { ignoreSearch: true });
    if (!kept) throw error;
    return kept;
  }
}

async function keep(request, answer) {
  if (answer.ok) await (await caches.open(KEPT)).put(request, answer.clone());
  return answer;
}
