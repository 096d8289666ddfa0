"""The templates of pages read what the types of their views declare, whether or not a test renders the case."""

from typing import Any, Final, NamedTuple, get_type_hints

import pytest
from jinja2 import DictLoader, Environment

from generator.catalog.discovery import PAGES
from generator.site.pages.recipes import RECIPES, recipe_of
from generator.site.pages.render import OfPage, OfTick, WholePage
from generator.site.resources import Resources
from generator.site.templates import environment
from tests.support.template_types import Templates

TEMPLATES: Final = Templates(environment(Resources.locate()))
CONTENTS: Final = sorted({*(page.template for page in PAGES), *RECIPES})


def fields_of(*views: Any) -> dict[str, Any]:
    return {name: of for view in views for name, of in get_type_hints(view).items()}


@pytest.mark.parametrize("template", CONTENTS)
def test_a_page_reads_only_what_its_view_declares(template: str) -> None:
    recipe = RECIPES.get(template) or recipe_of(next(page for page in PAGES if page.template == template))
    view = get_type_hints(recipe.values)["return"]

    assert TEMPLATES.faults(template, fields_of(OfTick, OfPage, view)) == []


def test_the_frame_reads_only_what_its_views_declare() -> None:
    assert TEMPLATES.faults("pages/head.html", fields_of(OfTick)) == []
    assert TEMPLATES.faults("pages/foot.html", fields_of(OfTick)) == []
    assert TEMPLATES.faults("pages/base.html", fields_of(OfTick, WholePage)) == []


class Row(NamedTuple):
    """A row of a view."""

    name: str
    more: "tuple[Row, ...] | None"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("{{ row.name }}{{ row.more[0].name }}", []),
        ("{{ row.title }}", ["x: line 1: Row.title"]),
        ("{% for one in rows %}{{ one.title if one.name }}{% endfor %}", ["x: line 1: Row.title"]),
        ("{% for key, one in by_name.items() %}\n{{ key }}{{ one.title }}{% endfor %}", ["x: line 2: Row.title"]),
        ("{% set first = rows[0] %}{{ first.more[0].title }}", ["x: line 1: Row.title"]),
        ("{% if lost %}{% endif %}", ["x: line 1: lost"]),
    ],
)
def test_what_no_type_declares_is_named(text: str, faults: list[str]) -> None:
    given = {"row": Row, "rows": tuple[Row, ...], "by_name": dict[str, Row | None]}

    assert Templates(Environment(loader=DictLoader({"x": text}), autoescape=True)).faults("x", given) == faults
