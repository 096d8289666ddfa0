// Read /openapi.json with one tool. Usage: node openapi.mjs TOOL ORIGIN; what was read comes out.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const [, , tool, origin] = process.argv;
const url = `${origin}/openapi.json`;
const filesUrl = `${origin}/openapi/files.json`;

async function swaggerParser() {
  const { default: SwaggerParser } = await import("@apidevtools/swagger-parser");
  const api = await SwaggerParser.validate(await (await fetch(url)).json());
  // With what it leads to; a loopback address is refused unless one asks for it.
  const files = await SwaggerParser.validate(filesUrl, { resolve: { http: { safeUrlResolver: false } } });
  return `valid, ${Object.keys(api.paths).length} paths and ${Object.keys(files.paths).length} of files`;
}

/** Types from the document, and a program over each free path that tsc holds against them, strictly. */
async function openapiTypescript() {
  const { default: make, astToString } = await import("openapi-typescript");
  const document = await (await fetch(url)).json();
  writeFileSync("schema.ts", astToString(await make(document)));
  writeFileSync("files.ts", astToString(await make(new URL(filesUrl)))); // its examples are fetched too
  const free = Object.entries(document.paths).filter(([, item]) => item.get.tags.includes("free"));
  const lines = free.map(([path, item], place) => {
    const inPath = (item.parameters ?? item.get.parameters ?? []).some((row) => row.in === "path");
    const given = inPath ? `{ params: { path: { asset: "ETH" } } }` : "{}";
    return `const a${place} = await client.GET(${JSON.stringify(path)}, ${given});\nif (a${place}.data === undefined) throw new Error(${JSON.stringify(path)});`;
  });
  const head = `import createClient from "openapi-fetch";\nimport type { paths } from "./schema.js";\n`;
  writeFileSync(
    "calls.ts",
    `${head}const client = createClient<paths>({ baseUrl: process.argv[2] });\n${lines.join("\n")}\nexport {};\n`,
  );
  writeFileSync("package.json", '{"type": "module"}');
  writeFileSync("node.d.ts", "declare const process: { argv: string[] };\n");
  const options =
    "--strict --noUncheckedIndexedAccess --skipLibCheck --target es2022 --module nodenext --lib es2022,dom";
  try {
    const files = ["calls.ts", "schema.ts", "files.ts", "node.d.ts"];
    execFileSync("node", ["node_modules/typescript/bin/tsc", ...options.split(" "), ...files], { encoding: "utf8" });
  } catch (error) {
    throw new Error(error.stdout);
  }
  execFileSync("node", ["calls.js", origin], { encoding: "utf8" });
  return `tsc strict 0 errors, ${free.length} of ${free.length} free paths called`;
}

/** The conformance tester of ARD 0.9 that Lighthouse has. */
async function ard() {
  const { ConformanceTester } = await import("lighthouse/third-party/ard/ard.js");
  const tester = new ConformanceTester();
  tester.validate_manifest(await (await fetch(`${origin}/.well-known/ai-catalog.json`)).text(), "ai-catalog.json");
  if (tester.errors.length || tester.warnings.length) throw new Error(JSON.stringify([tester.errors, tester.warnings]));
  return "0 errors, 0 warnings";
}

const tools = { "@apidevtools/swagger-parser": swaggerParser, "openapi-typescript": openapiTypescript, ard };
console.log(await tools[tool]());
