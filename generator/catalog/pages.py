"""What a page for people is, and the pages of the documentation: guides, and one for each endpoint."""

from dataclasses import dataclass
from typing import Final

from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import DOCS, QUICKSTART
from generator.catalog.products import PRODUCTS


@dataclass(frozen=True, slots=True)
class SitePage:
    """One page for people."""

    path: str  # with trailing slash, as linked; the file is `<path>index.html`
    template: str  # below templates/
    label: str
    title: str
    description: str
    primary: bool = True  # in the navigation at the top
    listed: bool = True  # at the foot, where it is not primary
    subject: str = ""  # the asset or window it shows, where one template makes several pages
    group: str = ""  # of the documentation's menu that it is in; empty elsewhere

    @property
    def file(self) -> str:
        """The path of the published file."""
        return f"{self.path}index.html"

    @property
    def twin(self) -> str:
        """The path of the same in Markdown."""
        return f"{self.path}index.md"


GUIDES: Final = "Guides"
FREE: Final = "Free endpoints"
PAID: Final = "Paid endpoints"
TYPES: Final = f"{DOCS}types/"
# Name of the page and its template, label, title, description.
_GUIDES: Final = (
    (
        "quickstart",
        "Quickstart",
        "Quickstart: the first answer, the first payment",
        "Read a free answer and buy a paid one with the official x402 clients, in play money.",
    ),
    (
        "try",
        "Try it",
        "Try the free endpoints",
        "Send a request to any free endpoint from this page and see status, headers and body.",
    ),
    (
        "paying",
        "How payment works",
        "How a paid request works",
        "The four steps of x402 with the headers of a real purchase, decoded.",
    ),
    (
        "freshness",
        "Freshness and limits",
        "Freshness, caching and limits",
        "How to tell whether an answer is still valid, how long to keep it, and how often to ask.",
    ),
    (
        "errors",
        "Errors",
        "Statuses and errors",
        "What each HTTP status means here and what a client does about it.",
    ),
    (
        "discovery",
        "Discovery",
        "OpenAPI, llms.txt and other descriptions",
        "Where machines find the description of this API, and how versions change.",
    ),
    (
        "types",
        "Shared fields",
        "Fields that every answer has",
        "Fields that every answer has, and the objects in them.",
    ),
)


def _docs_page(name: str, template: str, group: str, label: str, title: str, about: str) -> SitePage:  # noqa: PLR0917
    """Return a page below /docs/: in the menu of the documentation, not in that of the site."""
    path = f"{DOCS}{name}/"
    return SitePage(path, f"pages/{template}.html", label, title, about, primary=False, listed=False, group=group)


DOC_PAGES: Final = (
    *(_docs_page(name, f"docs_{name}", GUIDES, label, title, about) for name, label, title, about in _GUIDES),
    *(_docs_page(row.id, "docs_endpoint", FREE, row.name, f"{row.name} API", row.purpose) for row in ENDPOINTS),
    *(_docs_page(row.id, "docs_product", PAID, row.title, f"{row.title} API", row.what_this_is) for row in PRODUCTS),
)
assert QUICKSTART in {page.path for page in DOC_PAGES}
