"""The documentation: its links lead somewhere, its index has every page, and its reference is what the code is."""

import re
from pathlib import Path

from ruamel.yaml import YAML

from generator.arena.games import SEALED
from generator.catalog.downloads import SERIES
from generator.record.audit.audit import Audit
from tests.backups.hostile import CASES
from tests.backups.lost import WAYS
from tests.faults.incidents import INCIDENTS
from tests.faults.modes import MODES
from tests.reference import REFERENCE, TABLE, TABLES, written
from tests.sellers.kinds import KINDS
from tests.venues.table import cases

yaml = YAML(typ="safe")
ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (*sorted(ROOT.glob("[A-Z]*.md")), *sorted(DOCS.rglob("*.md")), ROOT / "tests" / "README.md")


def anchors(page: Path) -> set[str]:
    """Return the anchors that a forge gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_leads_to_a_file_and_a_heading_that_are_there() -> None:
    for page in PAGES:
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#?([^):\s]*)\)", page.read_text()):
            path = page.parent / target if target else page
            assert path.exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(path), f"{page}: {target}#{anchor}"


# In back ticks: a file, a constant, a class or a function.
NAMED_FILE = re.compile(r"[\w.-]+(?:/[\w.{},-]+)*\.(?:py|js|css|html|json|md|toml|yaml|conf|service|timer)")
IDENTIFIER = re.compile(r"_?[A-Z][A-Z0-9_]{3,}|[A-Z][a-z]+[A-Z]\w+(?:\.\w+)?(?:\(\))?|[a-z]+_[a-z_]+(?:\(\))?")
OF_OTHERS = {
    "pylock.toml", "uvicorn/protocols/http/httptools_impl.py", "header_read_timeout", "max_buffer_size",
    "AWS_SESSION_TOKEN", "AZURE_STORAGE_ACCOUNT_KEY", "GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY",
}  # fmt: skip
SOURCES = ("generator", "gateway", "templates", "site", "tests", ".ci", "docs/reference")


def named_in_docs() -> set[tuple[str, str]]:
    """Return (page, name) of what a page names in back ticks outside blocks, proofs and the reference."""
    past = {"CHANGELOG.md"}  # it names what there was
    pages = [page for page in PAGES if page.parent.name not in {"proof", "reference"} and page.name not in past]
    return {
        (page.relative_to(ROOT).as_posix(), name)
        for page in pages
        for name in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL))
        if name not in OF_OTHERS
    }


def spelled_out(name: str) -> list[str]:
    """Return the names that `a/{b,c}.py` stands for."""
    head, _, rest = name.partition("{")
    inside, _, tail = rest.partition("}")
    return [f"{head}{part}{tail}" for part in inside.split(",")] if rest else [name]


def test_every_file_and_identifier_that_docs_name_exists() -> None:
    files = [path for folder in SOURCES for path in (ROOT / folder).rglob("*") if path.is_file()]
    files = [path for path in files if path.suffix not in {".pyc", ".png", ".xz"}]
    files = [path for path in files if "state" not in path.parts]  # what was published shows no source of a name
    text = "\n".join(path.read_text(errors="ignore") for path in [*files, ROOT / "pyproject.toml"])
    words = set(re.findall(r"\w+", text))
    places = {f"/{path.relative_to(ROOT).as_posix()}" for path in [*files, *PAGES, *ROOT.iterdir()]}

    def is_known(name: str) -> bool:
        if NAMED_FILE.fullmatch(name):
            # A file that the program writes is known by its name, which the source holds.
            return all(
                any(place.endswith(f"/{part}") for place in places) or part.rpartition("/")[2] in text
                for part in spelled_out(name)
            )
        return not IDENTIFIER.fullmatch(name) or set(re.findall(r"\w+", name)) <= words

    assert {(page, name) for page, name in named_in_docs() if not is_known(name)} == set()


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text()

    for page in DOCS.glob("**/*.md"):
        listed = {page.relative_to(DOCS).as_posix(), f"{page.parent.name}/", "README.md"}
        assert page == DOCS / "README.md" or any(f"]({name})" in index for name in listed), page


def test_the_readme_is_one_page_and_no_table() -> None:
    text = (ROOT / "README.md").read_text()

    assert len(text.encode()) <= 6_000
    assert "\n|" not in text


def test_the_reference_is_what_the_code_is() -> None:
    pages = {path.name: path.read_text() for path in REFERENCE.glob("*.md")}

    stale = [name for name, text in pages.items() if written(text) != text]
    assert stale == [], "python -m tests.reference writes them"
    assert sorted(name for text in pages.values() for _, name, _ in TABLE.findall(text)) == sorted(TABLES)


def described_steps(text: str) -> set[str]:
    """Return the steps that a page describes: a row for each kind, below it or in it the games that write it."""
    steps: set[str] = set()
    kind = ""
    for line in text.splitlines():
        if row := re.match(r"- `([a-z.]+)`, ", line):
            kind = row[1]
            steps |= {kind, *(f"{game}.{kind}" for game in re.findall(r"`([a-z]+)`", line))}
        elif row := re.match(r"  - `([a-z]+)`", line):
            steps.add(f"{row[1]}.{kind}")
    return steps


def test_every_kind_of_log_entry_and_every_column_has_its_row() -> None:
    text = (REFERENCE / "formats.md").read_text()
    columns = {re.sub(r"_(15m|1h|4h|24h)$", "_…", field.name) for series in SERIES for field in series.fields}

    steps = Audit().readers
    assert len(steps) == 19 + 4 * len(SEALED)
    assert steps.keys() - described_steps(text) == set()
    assert [name for name in columns if f"`{name}`" not in text] == []


def test_the_proof_counts_the_cases_that_there_are() -> None:
    page = (DOCS / "proof" / "measured.md").read_text()

    counts = [
        f"{len(MODES)} modes",
        f"{len(INCIDENTS)} incidents",
        f"{len(CASES)} backups that somebody",
        f"{len(WAYS)} ways to lose a part",
        f"lie in {len(KINDS)} ways",
        f"{len(list(cases()))} lies",
    ]
    assert [words for words in counts if words not in page] == []


def test_a_pull_request_runs_what_contributing_says() -> None:
    workflow = yaml.load(ROOT / ".github" / "workflows" / "check.yml")
    contributing = " ".join((ROOT / "CONTRIBUTING.md").read_text().split())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]

    assert "`bash .ci/run` runs everything" in contributing
    assert "your pull request runs it too (`.github/workflows/check.yml`)" in contributing
    assert "pull_request" in workflow["on"]
    assert [step["run"] for step in steps if "run" in step][-1] == "bash .ci/run"
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
