"""JSON-LD for search engines: the site's name, and the data sets that two pages show."""

import json
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from generator.catalog.counts import ASSETS_IN_WORDS
from generator.catalog.downloads import DOWNLOADS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import TRACK_RECORD
from generator.catalog.pages import SitePage
from generator.catalog.text.answers import PURPOSE_NOTICE
from generator.compose.context import Site

# Page -> name and description of its data set, and its files: name, media type, path.
_DATA_SETS: Final = {
    "/": (
        "Readings of the crypto market, each minute",
        (
            "Market regime, direction, liquidity, futures pressure, a prediction game and its statistics for "
            f"{ASSETS_IN_WORDS} crypto assets, in words and numbers, renewed once a minute. Educational only."
        ),
        tuple((row.name, "application/json", row.path) for row in ENDPOINTS),
    ),
    TRACK_RECORD: (
        "Forecasts and what happened",
        "Forecasts stored before their time began, with prices, outcomes and scores. Misses are kept.",
        tuple((row.purpose, row.media_type, row.path) for row in DOWNLOADS),
    ),
}


def linked_data(page: SitePage, site: Site, made: str) -> Markup:
    """Return the text of a page's `application/ld+json` block, safe inside HTML; `made` is the tick's ISO time."""
    home = {"name": site.project, "url": f"{site.base_url}/"}
    graph: list[dict[str, Any]] = [{"@type": "WebSite", **home, "description": PURPOSE_NOTICE, "inLanguage": "en"}]
    if page.path in _DATA_SETS:
        graph.append(_data_set(page.path, site.base_url, made, home))

    # Nothing in it may end the block.
    text = json.dumps({"@context": "https://schema.org", "@graph": graph}, ensure_ascii=False, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704


def _data_set(path: str, base_url: str, modified: str, home: Mapping[str, str]) -> dict[str, Any]:
    name, description, files = _DATA_SETS[path]
    return {
        "@type": "Dataset",
        "name": name,
        "description": description,
        "url": base_url + path,
        "isAccessibleForFree": True,
        "dateModified": modified,
        "creator": {"@type": "Organization", **home},
        "distribution": [
            {"@type": "DataDownload", "name": what, "encodingFormat": media_type, "contentUrl": base_url + address}
            for what, media_type, address in files
        ],
    }
