// Call tools of a server over standard input and output with an official TypeScript client, unmodified.
// Usage: node mcp.mjs PACKAGE, {command, args, env, calls: [{name, arguments, _meta}]} on standard input;
// one JSON array comes out: for each call what the caller of the client gets, or what the client threw.
import { readFileSync } from "node:fs";

const places = {
  "@modelcontextprotocol/sdk": ["/client/index.js", "/client/stdio.js"],
  "@modelcontextprotocol/client": ["", "/stdio"],
  "mcp-sdk-oldest": ["/client/index.js", "/client/stdio.js"],
};

const [, , name] = process.argv;
const [home, stdio] = places[name];
const { Client } = await import(name + home);
const { StdioClientTransport } = await import(name + stdio);

const { command, args, env, calls } = JSON.parse(readFileSync(0, "utf8"));
const client = new Client({ name: "jury", version: "1" }, { capabilities: {} });
await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
await client.listTools();

const ends = [];
for (const call of calls) {
  try {
    ends.push(await client.callTool(call));
  } catch (error) {
    ends.push({ thrown: String(error?.message ?? error) });
  }
}
await client.close();
console.log(JSON.stringify(ends));
