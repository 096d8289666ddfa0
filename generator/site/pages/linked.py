"""What each page says of itself to search engines: JSON-LD with nothing in it that the page does not show."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from markupsafe import Markup

from generator.catalog.counts import ASSETS_IN_WORDS, ENDPOINTS_IN_WORDS, PRODUCTS_IN_WORDS
from generator.catalog.discovery import CATALOG_VERSION, SitePage
from generator.catalog.downloads import DOWNLOADS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import DOCS, GLOSSARY, LEARN, OPENAPI_JSON, PRICING, TRACK_RECORD
from generator.catalog.products import PRODUCTS
from generator.catalog.text.answers import PURPOSE_NOTICE
from generator.catalog.text.glossary import glossary
from generator.catalog.text.questions import LEARN_QUESTIONS, PRICING_QUESTIONS, Question
from generator.compose.context import Site

Node = dict[str, Any]
CONTEXT: Final = "https://schema.org"
MADE: Final = "@@made@@"


def linked_data(page: SitePage, site: Site) -> Markup:
    """Return the text of a page's `application/ld+json` block, safe inside HTML; MADE stands for the tick's time."""
    graph = [_site(site), _page(page, site), *(make(site) for make in _MORE.get(page.path, ()))]
    told = json.dumps({"@context": CONTEXT, "@graph": graph}, ensure_ascii=False, separators=(",", ":"))
    safe = told.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704  nothing in it can end the block


def _site(site: Site) -> Node:
    return {
        "@type": "WebSite",
        "@id": f"{site.base_url}/#site",
        "name": site.project,
        "url": f"{site.base_url}/",
        "description": PURPOSE_NOTICE,
        "inLanguage": "en",
    }


def _page(page: SitePage, site: Site) -> Node:
    return {
        "@type": "WebPage",
        "@id": f"{site.base_url}{page.path}#page",
        "name": page.title,
        "description": page.description,
        "url": f"{site.base_url}{page.path}",
        "isPartOf": {"@id": f"{site.base_url}/#site"},
    }


def _readings(site: Site) -> Node:
    """The free answers, as a data set."""
    files = [
        {
            "@type": "DataDownload",
            "name": row.name,
            "encodingFormat": "application/json",
            "contentUrl": site.base_url + row.path,
        }
        for row in ENDPOINTS
    ]
    return {
        "@type": "Dataset",
        "@id": f"{site.base_url}/#readings",
        "name": "Readings of the crypto market, each minute",
        "description": "Market regime, direction, liquidity, futures pressure, a prediction game and its statistics for "
        f"{ASSETS_IN_WORDS} crypto assets, in words and numbers, renewed once a minute. Educational only.",
        "url": f"{site.base_url}/",
        "isAccessibleForFree": True,
        "dateModified": MADE,
        "creator": {"@type": "Organization", "name": site.project, "url": f"{site.base_url}/"},
        "distribution": files,
    }


def _record(site: Site) -> Node:
    """The record of forecasts, as a data set."""
    files = [
        {
            "@type": "DataDownload",
            "name": row.purpose,
            "encodingFormat": row.media_type,
            "contentUrl": site.base_url + row.path,
        }
        for row in DOWNLOADS
    ]
    return {
        "@type": "Dataset",
        "@id": f"{site.base_url}{TRACK_RECORD}#record",
        "name": "Forecasts and what came true",
        "description": "Forecasts stored before their time began, with prices, outcomes and scores. Misses are kept.",
        "url": f"{site.base_url}{TRACK_RECORD}",
        "isAccessibleForFree": True,
        "dateModified": MADE,
        "creator": {"@type": "Organization", "name": site.project, "url": f"{site.base_url}/"},
        "distribution": files,
    }


def _api(site: Site) -> Node:
    return {
        "@type": "WebAPI",
        "@id": f"{site.base_url}{DOCS}#api",
        "name": f"{site.project} API",
        "description": f"JSON over HTTPS, GET only: {ENDPOINTS_IN_WORDS} free answers and {PRODUCTS_IN_WORDS} paid per request by x402.",
        "url": f"{site.base_url}/",
        "documentation": [f"{site.base_url}{DOCS}", f"{site.base_url}{OPENAPI_JSON}"],
        "version": CATALOG_VERSION,
        "provider": {"@type": "Organization", "name": site.project, "url": f"{site.base_url}/"},
        "offers": [
            {
                "@type": "Offer",
                "name": row.title,
                "price": row.price_display.split()[0],
                "priceCurrency": "USDC",
                "url": site.base_url + row.path,
            }
            for row in PRODUCTS
        ],
    }


def _terms(site: Site) -> Node:
    return {
        "@type": "DefinedTermSet",
        "@id": f"{site.base_url}{GLOSSARY}#terms",
        "name": "The words used here",
        "url": f"{site.base_url}{GLOSSARY}",
        "hasDefinedTerm": [
            {"@type": "DefinedTerm", "name": term, "description": meaning} for term, meaning in glossary()
        ],
    }


def _questions(path: str, questions: tuple[Question, ...]) -> Callable[[Site], Node]:
    def make(site: Site) -> Node:
        return {
            "@id": f"{site.base_url}{path}#questions",
            "@type": "FAQPage",
            "mainEntity": [
                {"@type": "Question", "name": ask, "acceptedAnswer": {"@type": "Answer", "text": say}}
                for ask, say in questions
            ],
        }

    return make


_MORE: Final[Mapping[str, tuple[Callable[[Site], Node], ...]]] = {
    "/": (_readings,),
    TRACK_RECORD: (_record,),
    DOCS: (_api,),
    GLOSSARY: (_terms,),
    LEARN: (_questions(LEARN, LEARN_QUESTIONS),),
    PRICING: (_questions(PRICING, PRICING_QUESTIONS),),
}
