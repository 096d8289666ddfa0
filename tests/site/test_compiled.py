"""Templates that an earlier process compiled are used, and only where they are those of the sources."""

from collections.abc import Callable
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment, FileSystemLoader

from generator.site.compiled import CompiledTemplates
from generator.site.resources import Resources
from generator.site.templates import environment


def rendered(folder: Path, setting: str = "as it is") -> str:
    """Render the folder's one template in an environment that has compiled nothing yet."""
    env = Environment(loader=FileSystemLoader(folder), bytecode_cache=CompiledTemplates(folder, setting))
    return env.get_template("page.html").render()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of one template, which was compiled."""
    (tmp_path / "page.html").write_text("{{ 1 + 1 }}")
    assert rendered(tmp_path) == "2"
    return tmp_path


def the_compiled(folder: Path) -> Path:
    (file,) = (folder / "__pycache__").iterdir()
    return file


def test_a_template_is_compiled_once_and_used_by_the_next_process(folder: Path) -> None:
    other = Environment(loader=DictLoader({"page.html": "{{ 1 + 2 }}"})).compile("{{ 1 + 2 }}", "page.html")
    cache = CompiledTemplates(folder, "as it is")
    bucket = cache.get_bucket(Environment(), "page.html", str(folder / "page.html"), "{{ 1 + 1 }}")
    bucket.code = other
    cache.set_bucket(bucket)

    assert rendered(folder) == "3"


def test_a_changed_source_or_environment_is_compiled_again(folder: Path) -> None:
    before = the_compiled(folder).read_bytes()

    assert rendered(folder, "set up in another way") == "2"
    assert the_compiled(folder).read_bytes() != before
    (folder / "page.html").write_text("{{ 2 + 2 }}")
    assert rendered(folder) == "4"


SPOILT: list[Callable[[bytes], bytes]] = [
    lambda _: b"",
    lambda data: data[:40],
    lambda data: data[:-5],
    lambda _: b"?" * 99,
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_torn_file_is_passed_over_and_written_again(folder: Path, spoil: Callable[[bytes], bytes]) -> None:
    file = the_compiled(folder)
    whole = file.read_bytes()
    file.write_bytes(spoil(whole))

    assert rendered(folder) == "2"
    assert file.read_bytes() == whole


def test_where_nothing_can_be_kept_each_process_compiles_for_itself(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("{{ 1 + 1 }}")
    (tmp_path / "__pycache__").write_text("a file in the way")

    assert rendered(tmp_path) == "2"


def test_no_result_of_a_filter_is_compiled_into_a_page() -> None:
    assert not environment(Resources.locate()).optimized
