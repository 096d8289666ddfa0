"""Pages that were joined to others: each old address keeps a stub, and the recipes of the edges redirect."""

from typing import Final

from generator.catalog import links
from generator.catalog.assets import DEFAULT_ASSET
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS

# Old address -> new one. An edge redirects what lies below an old address as well, such as a day of the archive.
MOVED: Final[dict[str, str]] = {
    "/archive/": f"{links.HISTORY}#days",
    "/changelog/": f"{links.DOCS}#changelog",
    "/docs/discovery/": f"{links.DOCS}#files",
    "/docs/errors/": f"{links.DOCS}#errors",
    "/docs/freshness/": f"{links.DOCS}#freshness",
    "/docs/paying/": f"{links.DOCS_PAID}#flow",
    "/docs/quickstart/": links.QUICKSTART,
    "/docs/try/": f"{links.DOCS_FREE}#try",
    "/docs/types/": f"{links.METHODOLOGY}#fields",
    "/embed/": f"{links.DOCS}#files",
    "/glossary/": f"{links.METHODOLOGY}#terms",
    "/history/24h/": f"{links.asset_path(DEFAULT_ASSET)}#24h",
    "/history/30d/": f"{links.asset_path(DEFAULT_ASSET)}#30d",
    "/history/7d/": f"{links.asset_path(DEFAULT_ASSET)}#7d",
    "/learn/practice/class/": f"{links.PRACTICE}#class",
    "/learn/week/": f"{links.LEARN}#weeks",
    "/status/": links.STATUS,
    **{f"{links.DOCS}{row.id}/": links.doc_address(row.id) for row in ENDPOINTS},
    **{f"{links.DOCS}{row.id}/": links.doc_address(row.id) for row in PRODUCTS},
}
