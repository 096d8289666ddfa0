// Runs the Cloudflare Worker of site/edge/cloudflare under workerd, over an R2 bucket that the test fills.
//
// Reads one JSON line first: {worker, port, bindings}. Then one JSON line per command, each answered with one line:
// {put: key, file, type, encoding, cache} {delete: key} {fault: "" | "down" | "hang" | "lie"}. Ends with its standard input.
import { copyFile, mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { Miniflare } from "miniflare";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const config = JSON.parse((await lines.next()).value);
const root = await mkdtemp(path.join(tmpdir(), "edge-worker-"));
const names = (await readdir(config.worker)).filter((name) => name.endsWith(".js"));
for (const name of names) await copyFile(path.join(config.worker, name), path.join(root, name));
const wrapper = path.join(root, "faulty.mjs");
await copyFile(path.join(path.dirname(fileURLToPath(import.meta.url)), "faulty.mjs"), wrapper);

const server = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  // The Worker itself on its own port. Miniflare's own port is an imitation of the edge before it, which rewrites
  // Accept-Encoding as the real one does, but also takes the first of two equal codings where the real one does not.
  unsafeDirectSockets: [{ host: "127.0.0.1", port: config.port }],
  modulesRoot: root,
  modules: [wrapper, ...names.map((name) => path.join(root, name))].map((file) => ({ type: "ESModule", path: file })),
  compatibilityDate: "2026-04-01",
  r2Buckets: ["SITE", "FAULTS"],
  bindings: config.bindings,
  cf: false,
});
const origin = String(await server.ready);
const site = await server.getR2Bucket("SITE");
const faults = await server.getR2Bucket("FAULTS");
console.log(JSON.stringify({ origin }));

for await (const line of lines) {
  const command = JSON.parse(line);
  if (command.put !== undefined) {
    const httpMetadata = { contentType: command.type, contentEncoding: command.encoding, cacheControl: command.cache };
    // A Buffer is not what the bucket takes.
    await site.put(command.put, new Uint8Array(await readFile(command.file)).buffer, { httpMetadata });
  } else if (command.delete !== undefined) {
    await site.delete(command.delete);
  } else {
    await faults.put("mode", command.fault);
  }
  console.log(JSON.stringify({ done: true }));
}
await server.dispose();
await rm(root, { recursive: true, force: true });
