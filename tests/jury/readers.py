"""Readers of what is published: OpenAPI, the guide for agents, the catalog, feeds."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Final

from generator.catalog.links import BUYER, DAILY, DOCS, YOU
from generator.catalog.products import PRODUCTS
from tests.jury.court import Court, Judge, bin_of, installed, node, python, required, run

CHROMIUM: Final = "/usr/bin/chromium"


def _in_python(parser: str, court: Court) -> str:
    return python("readers.py", [parser, court.origin], court.folder, timeout_s=480).strip()


def _in_node(tool: str, court: Court) -> str:
    return node(court, "openapi.mjs", [tool, court.origin]).strip()


# Pages of each kind: of the generator, with parts that a script shows, and the gateway's.
_AUDITED: Final = ("/", DAILY, YOU, DOCS, BUYER)


def _lighthouse(court: Court) -> str:
    """Let Lighthouse audit pages by its whole category for agents."""
    urls = [court.origin + path for path in _AUDITED]
    audits = json.loads(node(court, "lighthouse.mjs", [CHROMIUM, *urls], timeout_s=480))
    assert list(audits) == urls
    for url, audit in audits.items():
        assert (audit["score"], audit["failed"], audit["error"]) == (1, [], None), (url, audit)
        # What it has of WebMCP does not apply to pages that register no tools.
        assert {*audit["judged"]} >= {"agent-accessibility-tree", "cumulative-layout-shift", "llms-txt", "ard-schema"}
    return f"score 1 on {len(urls)} of {len(urls)} pages: accessibility tree, layout shift, llms.txt, ARD"


def _agentcash(court: Court) -> str:
    """Let the crawler of a registry of paid resources find the four and their prices."""
    found = run([*bin_of("discovery"), "discover", court.origin, "--json"], court.folder)
    asked = sorted({f"{Decimal(product.price_atomic).scaleb(-6).normalize():f}" for product in PRODUCTS})
    assert found.count("/api/x402-") >= 4, found[:600]
    assert [price for price in asked if price not in found] == [], found[:600]
    return "four paid resources with their prices"


JUDGES: Final = (
    *(
        Judge(family, name, required(name), "python", partial(_in_python, name))
        for family, name in (
            ("llms.txt", "llms-txt"),
            ("feeds", "feedparser"),
            ("feeds", "atoma"),
            ("OpenAPI", "openapi-python-client"),
            ("OpenAPI", "openapi-generator-cli"),
        )
    ),
    *(
        Judge("OpenAPI", name, installed(name), "js", partial(_in_node, name))
        for name in ("@apidevtools/swagger-parser", "openapi-typescript")
    ),
    Judge("ARD", "lighthouse (its ARD tester)", installed("lighthouse"), "js", partial(_in_node, "ard")),
    Judge("pages", "lighthouse (its category for agents)", installed("lighthouse"), "js", _lighthouse),
    Judge("x402", "@agentcash/discovery", installed("@agentcash/discovery"), "js", _agentcash),
)
