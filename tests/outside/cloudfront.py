"""CloudFront's functions outside AWS: run under node, and under njs, the engine that AWS's own was made from."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.outside.cloud_edges import CLOUDFRONT

IMPORT = "import cf from 'cloudfront';\n"
BEFORE = """
const GIVEN = %s;
const cf = { kvs: function () { return { get: function (key) {
  const value = GIVEN.store[key];
  return value === undefined ? Promise.reject(new Error('KeyNotFound')) : Promise.resolve(value);
} }; } };
"""
# Debian's njs 0.7.9 dies of a loop over await, so this is a chain, and it breaks a line after 2,048 bytes.
AFTER = """
const ANSWERS = [];
function tell(text) {
  for (let from = 0; from < text.length; from += 500) console.log(text.slice(from, from + 500));
}
function next(at) {
  if (at === GIVEN.events.length) return tell(JSON.stringify(ANSWERS));
  Promise.resolve(handler(GIVEN.events[at])).then(function (answer) { ANSWERS.push(answer); next(at + 1); });
}
next(0);
"""


def load(name: str) -> Any:
    """Load a program of the recipe that is no package's module."""
    spec = importlib.util.spec_from_file_location(f"cloudfront_{name}", CLOUDFRONT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(
    engine: str, folder: Path, code: str, events: Sequence[Mapping[str, Any]], release: str | None
) -> list[dict[str, Any]]:
    """Give each event to a function's handler; return what it returned."""
    given = {"events": list(events), "store": {} if release is None else {"release": release}}
    script = folder / "function.js"
    script.write_text(BEFORE % json.dumps(given) + code.replace(IMPORT, "") + AFTER)
    done = subprocess.run([engine, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answers: list[dict[str, Any]] = json.loads(done.stdout.replace("\n", ""))
    return answers


def asking(uri: str, query: str | None = None, method: str = "GET", **headers: str) -> dict[str, Any]:
    """Make a viewer-request event as AWS documents it."""
    return {
        "version": "1.0",
        "context": {
            "distributionDomainName": "d111111abcdef8.cloudfront.net",
            "distributionId": "EDFDVBD6EXAMPLE",
            "eventType": "viewer-request",
            "requestId": "EXAMPLEntjQpEXAMPLE_SG5Z-EXAMPLEPmPfEXAMPLEu3EqEXAMPLE==",
        },
        "viewer": {"ip": "198.51.100.11"},
        "request": {
            "method": method,
            "uri": uri,
            "querystring": {} if query is None else {"asset": {"value": query}},
            "headers": {name.replace("_", "-"): {"value": value} for name, value in headers.items()},
            "cookies": {},
        },
    }


def answered(request: Mapping[str, Any], content_type: str, status: int = 200) -> dict[str, Any]:
    """Make a viewer-response event: what the bucket answered to a request that the function rewrote."""
    kind = {"content-type": {"value": content_type}} if status == 200 else {}
    headers = {"etag": {"value": '"0123"'}, "cache-control": {"value": "public, max-age=600, immutable"}, **kind}
    event = {**asking("/"), "request": dict(request)}
    event["context"] = {**event["context"], "eventType": "viewer-response"}
    return {**event, "response": {"statusCode": status, "statusDescription": "OK", "headers": headers, "cookies": {}}}
