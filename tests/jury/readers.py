"""Readers of what is published: OpenAPI, the guide for agents, the catalog, feeds."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.jury.court import Court, Judge, bin_of, installed, node, python, required, run


def _in_python(parser: str, court: Court) -> str:
    return python("readers.py", [parser, court.origin], court.folder).strip()


def _in_node(tool: str, court: Court) -> str:
    return node(court, "openapi.mjs", [tool, court.origin]).strip()


def _agentcash(court: Court) -> str:
    """Let the crawler of a registry of paid resources find the four and their prices."""
    found = run([*bin_of("discovery"), "discover", court.origin, "--json"], court.folder)
    prices = [price for price in ("0.01", "0.02", "0.1") if price in found]
    assert found.count("/api/x402-") >= 4, found[:600]
    assert prices == ["0.01", "0.02", "0.1"], found[:600]
    return "four paid resources with their prices"


JUDGES: Final = (
    *(
        Judge(family, name, required(name), "python", partial(_in_python, name))
        for family, name in (
            ("llms.txt", "llms-txt"),
            ("feeds", "feedparser"),
            ("feeds", "atoma"),
            ("OpenAPI", "openapi-python-client"),
        )
    ),
    *(
        Judge("OpenAPI", name, installed(name), "js", partial(_in_node, name))
        for name in ("@apidevtools/swagger-parser", "openapi-typescript")
    ),
    Judge("ARD", "lighthouse (its ARD tester)", installed("lighthouse"), "js", partial(_in_node, "ard")),
    Judge("x402", "@agentcash/discovery", installed("@agentcash/discovery"), "js", _agentcash),
)
