"""The one environment that renders the templates of pages, feeds, pictures and discovery files."""

from functools import lru_cache
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from generator.arena.rates import in_full, share
from generator.catalog import assets, counts, discovery, downloads, endpoints, links, measured, pages, products
from generator.catalog.endpoints import ENDPOINT_BY_ID
from generator.catalog.formats import iso
from generator.catalog.text import answers, labels, questions
from generator.catalog.text.glossary import glossary
from generator.site.charts.history import WINDOWS
from generator.site.resources import Assets, Resources
from generator.site.words import format as page_format
from generator.site.words.changelog import versions

# Templates know each constant of these by its name in lower case.
_CATALOG: Final = (
    assets,
    counts,
    discovery,
    downloads,
    endpoints,
    links,
    measured,
    products,
    answers,
    labels,
    questions,
)


@lru_cache(maxsize=8)
def environment(resources: Resources) -> Environment:
    """Return the one environment, which knows the catalog: escaped by default, an unknown name is an error.

    A process compiles each template once, on first use.
    """
    env = Environment(
        loader=FileSystemLoader(resources.templates),
        autoescape=select_autoescape(("html", "xml", "svg"), default=False),
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    names = ("price", "percent", "signed", "usd", "word", "when", "day", "clock", "duration", "count", "left", "coded")
    env.filters.update({name: getattr(page_format, name) for name in names}, iso=iso, rate=in_full, share=share)
    env.filters.update(asset_path=links.asset_path, embedded=links.embedded)
    env.globals.update(
        {name.lower(): value for room in _CATALOG for name, value in vars(room).items() if name.isupper()}
    )
    env.globals.update(
        order=[ENDPOINT_BY_ID[name] for name in endpoints.RECOMMENDED_ORDER],
        doc_groups=list(dict.fromkeys(page.group for page in pages.DOC_PAGES)),
        terms=glossary(),
        windows=WINDOWS,
        versions=versions(resources.changelog),
        assets_version=Assets.load(resources).version,
    )
    return env
