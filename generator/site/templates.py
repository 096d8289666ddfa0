"""The one environment that renders the templates of pages, feeds, pictures and discovery files."""

from functools import lru_cache
from types import ModuleType
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context
from markupsafe import Markup

from generator.arena.rates import in_full, share
from generator.catalog import assets, counts, discovery, downloads, endpoints, links, measured, pages, products
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso
from generator.catalog.text import answers, chapters, concepts, figures, labels, questions
from generator.catalog.text.glossary import glossary
from generator.site.resources import Assets, Resources
from generator.site.words import format as words
from generator.site.words.changelog import versions

# Tables and texts of the catalog, which templates read by the name of their module: `{{ links.HISTORY }}`.
_CATALOG: Final[dict[str, ModuleType]] = {
    "answers": answers,
    "assets": assets,
    "chapters": chapters,
    "concepts": concepts,
    "counts": counts,
    "discovery": discovery,
    "downloads": downloads,
    "endpoints": endpoints,
    "labels": labels,
    "links": links,
    "measured": measured,
    "pages": pages,
    "products": products,
    "questions": questions,
}


@pass_context
def _priced(context: Context, ms: int) -> Markup:
    """Name, after the time of a round, the market time of its prices where a replay has two clocks; else nothing."""
    priced_ms = context["fresh"].priced_ms(ms)
    if priced_ms is None:
        return Markup()
    return Markup(", prices of {}").format(words.when(priced_ms))


@lru_cache(maxsize=8)
def environment(resources: Resources) -> Environment:
    """Return the one environment, which knows the catalog: escaped by default, an unknown name is an error."""
    env = Environment(
        loader=FileSystemLoader(resources.templates),
        autoescape=select_autoescape(("html", "xml", "svg"), default=False),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

    env.filters.update(
        {
            "asset_path": links.asset_path,
            "doc_address": links.doc_address,
            "band": figures.band,
            "chapter_path": links.chapter_path,
            "clock": words.clock,
            "coded": words.coded,
            "count": figures.count,
            "day": figures.day,
            "duration": figures.duration,
            "iso": iso,
            "left": figures.left,
            "minus": figures.minus,
            "percent": figures.percent,
            "outcome": labels.OUTCOME.__getitem__,
            "price": figures.price,
            "priced": _priced,
            "rate": in_full,
            "share": share,
            "shift": figures.shift,
            "signed": figures.signed,
            "usd": figures.usd,
            "when": words.when,
            "word": words.word,
        }
    )

    env.globals.update(_CATALOG)
    env.globals.update(
        order=[ENDPOINT_BY_ID[name] for name in endpoints.RECOMMENDED_ORDER],
        terms=glossary(),
        versions=versions(resources.changelog),
        assets_version=Assets.load(resources).version,
    )

    return env
