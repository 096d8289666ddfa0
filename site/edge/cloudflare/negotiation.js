// Which stored variant a client takes, and whether it holds it already.

const STORED = ["br", "gzip"];

/** The stored codings that the client takes, best first; "identity" always last (RFC 9110 12.5.3). */
export function codings(acceptEncoding) {
  const weights = new Map();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [name, ...parameters] = part.split(";");
    weights.set(name.trim(), weight(parameters.join(";")));
  }
  const taken = STORED.filter((coding) => (weights.get(coding) ?? weights.get("*") ?? 0) > 0);
  return [...taken, "identity"];
}

function weight(parameters) {
  const [name, value] = parameters.trim().split("=");
  if (name.trim() !== "q" || value === undefined) return 1;
  const q = Number(value);
  return Number.isFinite(q) ? q : 0;
}

/** Whether the client holds this variant: tags decide before dates (RFC 9110 13.2.2). */
export function unchanged(headers, etag, modified) {
  const tags = headers.get("if-none-match");
  if (tags !== null) {
    const listed = tags.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
    return listed.includes("*") || listed.includes(etag);
  }
  const since = Date.parse(headers.get("if-modified-since") ?? "");
  return Number.isFinite(since) && since >= modified * 1_000;
}
