"""What the search of the documentation reads."""

from collections.abc import Iterator

from generator.catalog.discovery import STATUSES
from generator.catalog.links import DOCS
from generator.catalog.pages import DOC_PAGES, TYPES, SitePage
from generator.site.words.reference import FieldRow, ObjectFields, Reference, Schemas, answer_of

_ERRORS = f"{DOCS}errors/"


def search_index(schemas: Schemas) -> dict[str, list[list[str]]]:
    """Return what can be found: title, address and words of each page, and of each object of an answer."""
    reference = Reference(schemas)
    return {"rows": [row for page in DOC_PAGES for row in _rows(page, reference)]}


def _rows(page: SitePage, reference: Reference) -> Iterator[list[str]]:
    """Give the row of a page, then one for each object that it explains."""
    answer = answer_of(page)
    fields: tuple[FieldRow, ...] = ()
    objects: tuple[ObjectFields, ...] = ()
    if answer is not None:
        own, *rest = reference.of(answer)
        fields = own.fields
        objects = tuple(rest)
    elif page.path == TYPES:
        objects = reference.shared()

    words = [page.description, *(field.name for field in fields)]
    if page.path == _ERRORS:
        words += [f"{row.status} {row.condition}" for row in STATUSES]
    yield [page.label, page.path, " ".join(words)]

    for part in objects:
        names = " ".join(field.name for field in part.fields)
        yield [f"{page.label}: {part.title}", f"{page.path}#{part.anchor}", names]
