"""What a page for people is, and the pages of the documentation with its menu."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import DOCS, DOCS_FREE, DOCS_PAID, METHODOLOGY, QUICKSTART, doc_address
from generator.catalog.products import PRODUCTS


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page for people."""

    path: str  # with trailing slash, as linked; the file is `<path>index.html`
    template: str  # below templates/
    label: str  # empty: not listed for crawlers
    title: str
    description: str
    subject: str = ""  # the asset or chapter it shows, where one template makes several pages

    @property
    def file(self) -> str:
        """The path of the published file."""
        return f"{self.path}index.html"

    @property
    def twin(self) -> str:
        """The path of the same in Markdown."""
        return f"{self.path}index.md"


class DocGroup(NamedTuple):
    """A page of the documentation with the sections that its menu names: label and address."""

    label: str
    path: str
    sections: tuple[tuple[str, str], ...]


DOC_PAGES: Final = (
    SitePage(
        DOCS,
        "pages/docs.html",
        "API",
        "API documentation",
        "How to start, how fresh an answer is, what each status means, files for programs, and what changed.",
    ),
    SitePage(
        DOCS_FREE,
        "pages/docs_free.html",
        "Free answers",
        "The free endpoints",
        "Each free endpoint with an answer, its fields, and programs in curl, Python and JavaScript.",
    ),
    SitePage(
        DOCS_PAID,
        "pages/docs_paid.html",
        "Paid answers",
        "The paid endpoints",
        "Each paid endpoint with an answer, its fields and price; a first purchase with play money; how payment works.",
    ),
)
DOC_MENU: Final = (
    DocGroup(
        "Overview",
        DOCS,
        (
            ("Freshness and limits", f"{DOCS}#freshness"),
            ("Statuses and errors", f"{DOCS}#errors"),
            ("Files for programs", f"{DOCS}#files"),
            ("What changed", f"{DOCS}#changelog"),
            ("Shared fields", f"{METHODOLOGY}#fields"),
        ),
    ),
    DocGroup("Free answers", DOCS_FREE, tuple((row.name, doc_address(row.id)) for row in ENDPOINTS)),
    DocGroup(
        "Paid answers",
        DOCS_PAID,
        (
            *((row.title, doc_address(row.id)) for row in PRODUCTS),
            ("Quickstart", QUICKSTART),
            ("How payment works", f"{DOCS_PAID}#flow"),
        ),
    ),
)
