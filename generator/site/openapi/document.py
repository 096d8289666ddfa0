"""The machine-readable description: OpenAPI 3.1 as JSON and as YAML."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import implicit_resolvers

from gateway.wire.networks import NETWORKS
from generator.contract.encode import encode
from generator.site.openapi.paths import components, paths
from generator.site.openapi.schemas import component_schemas
from generator.site.openapi.text import info

_STRING: Final = "tag:yaml.org,2002:str"
_NO_STRING: Final = tuple(pattern for _, _, pattern, _ in implicit_resolvers)  # bare, in YAML 1.1 or 1.2


class _Representer(SafeRepresenter):
    """Write scalars that readers of YAML 1.1 and of 1.2 take for the same: to the first, a bare 56:15 is 3375."""

    def represent_str(self, data: str) -> ScalarNode:
        style = "'" if any(pattern.match(data) for pattern in _NO_STRING) else None
        return self.represent_scalar(_STRING, data, style=style)

    def represent_float(self, data: float) -> ScalarNode:
        text = repr(data)
        # To YAML 1.1 a number with an exponent, but without a point, is a string.
        text = text if "." in text else text.replace("e", ".0e", 1)
        return self.represent_scalar("tag:yaml.org,2002:float", text)


_Representer.add_representer(str, _Representer.represent_str)
_Representer.add_representer(float, _Representer.represent_float)


def openapi(
    *, base_url: str, project: str, contact: str, network: str, examples: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Describe the service.

    Args:
        base_url: origin without a trailing slash.
        project: name of the service.
        contact: the setting, see `contact_of`.
        network: payment network, a key of the catalogue's table.
        examples: bodies of one real tick by free path and by product id; `<product id>#402` for a challenge. What is
            left out has no example.

    Raises:
        KeyError: the network is not in the table.
    """
    return {
        "openapi": "3.1.0",
        "info": info(base_url, project, contact),
        "servers": [{"url": base_url, "description": "This service"}],
        "security": [],
        "tags": [
            {"name": "free", "description": "Public: no account, key or payment."},
            {"name": "paid", "description": "Paid per request by x402; no account."},
        ],
        "paths": paths(NETWORKS[network], examples),
        "components": {"schemas": component_schemas(), **components()},
    }


def openapi_yaml(document: Mapping[str, Any]) -> bytes:
    """Write a document as YAML that parses to the same value. Takes most of a second for a whole one."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = _Representer
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.allow_unicode = True
    yaml.width = 120
    # A copy through JSON shares no objects but interned scalars; anchors would only puzzle readers.
    yaml.representer.ignore_aliases = lambda *_: True
    out = io.BytesIO()
    yaml.dump(json.loads(encode(document)), out)
    return out.getvalue()
