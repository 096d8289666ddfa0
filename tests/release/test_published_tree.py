"""A whole published release and vault, as the generator writes them: valid, closed, nothing internal in any file."""

import asyncio
import gzip
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import brotli
import pytest

from generator.catalog.discovery import FEEDS, PAGES, SHARE_PICTURE, SHARE_PICTURES
from generator.catalog.downloads import DOWNLOADS
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.links import PRACTICE_FILES
from generator.catalog.moved import MOVED
from generator.catalog.products import PRODUCTS
from generator.catalog.words import RoundPhase
from generator.record.memory.store import Memory
from generator.runtime.tick import tick
from generator.settings import GeneratorSettings
from generator.values.rounds import Round
from tests.support.clock import NOON, ManualClock
from tests.support.services import opened

BRAIN = Path(__file__).parents[2] / "generator" / "brain"
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e-?\d+)?|(?<![\w.])-?\d+e-?\d+")


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")

    async def work() -> None:
        clock = ManualClock()
        async with opened(folder, clock, hours=5, background=True, days=1) as app:
            await tick(app, clock.now())
            await tick(app, clock.step(timedelta(minutes=1)))

    asyncio.run(work())
    return folder


def load(state: Path, path: str) -> Any:
    return json.loads((state / "site" / "current" / path.lstrip("/")).read_text())


def paid(state: Path) -> dict[str, Any]:
    manifest = json.loads((state / "vault" / "manifest.json").read_text())
    return {row["id"]: json.loads((state / "vault" / row["body"]["path"]).read_text()) for row in manifest["products"]}


def test_the_openapi_document_is_valid(state: Path) -> None:
    from openapi_spec_validator import validate  # 0.4 s, which every worker would pay at collection

    validate(load(state, "/openapi.json"))


def test_no_number_of_the_weights_is_in_any_published_file(state: Path) -> None:
    learned = " ".join((BRAIN / name).read_text() for name in ("outlook.json",))
    secret = {text.lstrip("-") for text in NUMBER.findall(learned) if significant(text) >= 4}
    files = [
        path for path in (state / "site" / "current").rglob("*") if path.suffix not in {".gz", ".br", ".png", ".ico"}
    ]
    files += list((state / "vault").rglob("*.json"))

    assert len(secret) > 50
    for path in files:
        if path.is_file():
            shown = {text.lstrip("-") for text in NUMBER.findall(path.read_text())}
            assert not shown & secret, (path, shown & secret)


def significant(text: str) -> int:
    return len(text.lstrip("-").split("e")[0].replace(".", "").strip("0"))


def test_a_forecast_is_sealed_in_every_file_until_its_round_is_live(state: Path) -> None:
    seen = load(state, "/api/human-consensus.php")
    opened_round = seen["open_round"]
    revealed = [row for row in load(state, "/arena/rounds.json")["rounds"] if row["phase"] != RoundPhase.OPEN]

    assert opened_round["commitment"]
    assert opened_round["round_id"] not in {row["round_id"] for row in revealed}
    assert not {"prediction", "salt", "probabilities"} & set(opened_round)


def sealed_round(state: Path) -> Round:
    """Return the round that takes votes as only the memory knows it."""
    memory = Memory.open(GeneratorSettings(state_dir=state).memory)
    try:
        found = memory.view(round(NOON.timestamp() * 1000) + 60_000).open
    finally:
        memory.close()
    assert found is not None
    return found


def holding(folder: Path, *texts: str) -> list[str]:
    """Return the files below a folder that hold every one of these texts; compressed ones are opened."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
        data = brotli.decompress(data) if path.suffix == ".br" else data
        if all(text.encode() in data for text in texts):
            found.append(path.relative_to(folder).as_posix())
    return found


def test_only_the_reading_of_the_minute_holds_the_numbers_of_a_sealed_forecast(state: Path) -> None:
    sealed = sealed_round(state)
    assert sealed.probabilities is not None
    assert sealed.salt
    chances = [f"{chance:.4f}".rstrip("0") for chance in sealed.probabilities]
    assert len({*chances}) == 3

    shown = {
        path.split("/", 2)[2].removesuffix(".gz").removesuffix(".br")
        for path in holding(state / "site", *chances)
        if PRACTICE_FILES not in f"/{path}"  # a month that was shipped holds the digits of any three chances
    }
    reading = {"api/main-brain.php", "api/reasoning.php", f"api/reasoning/{sealed.asset}.json"}
    examples = {f"docs/free/index.{kind}" for kind in ("html", "md")}
    assert reading <= shown <= reading | examples
    assert holding(state / "site", sealed.salt) == []
    assert holding(state / "site", sealed.sealed_digest or "-") != []  # what is looked for would be found


def test_before_the_lock_only_the_brain_s_own_reading_comes_close_to_the_seal(state: Path) -> None:
    """As docs/explain/arena.md says: the view of the next hour is public; that it is the sealed one is said nowhere."""
    sealed = sealed_round(state)
    assert sealed.probabilities is not None
    chances = [f"{chance:.4f}".rstrip("0") for chance in sealed.probabilities]
    reading = load(state, f"/api/reasoning/{sealed.asset}.json")["reasoning"]
    sold = {row_id for row_id, body in paid(state).items() if all(text in json.dumps(body) for text in chances)}

    assert (reading["prediction"], reading["confidence"]) == (sealed.prediction, sealed.confidence_percent)
    assert sold == {"x402-main-brain", "x402-atlas"}


def test_examples_of_free_answers_are_the_published_answers(state: Path) -> None:
    document = load(state, "/openapi.json")

    for row in ENDPOINTS:
        content = document["paths"][row.path]["get"]["responses"]["200"]["content"]["application/json"]
        (example,) = content["examples"].values()
        answer = load(state, urlsplit(example["externalValue"]).path)
        assert answer["freshness"]["tick_id"] == "20261120T120100Z", row.path


def test_every_published_path_is_in_the_reference(state: Path) -> None:
    listed = re.findall(r"`(/[^`]*)`", (BRAIN.parents[1] / "docs" / "reference" / "formats.md").read_text())
    known = re.compile(
        "|".join(re.sub(r"<[a-z]+>", "[A-Za-z0-9-]+", re.escape(path).replace("…", ".*")) for path in listed)
    )
    site = state / "site" / "current"
    files = {
        f"/{path.relative_to(site)}" for path in site.rglob("*") if path.suffix not in {".gz", ".br"} and path.is_file()
    } - {f"{old}index.html" for old in MOVED}

    assert [path for path in sorted(files) if not known.fullmatch(re.sub(r"index\.(html|md)$", "", path))] == []


def test_the_sitemap_names_only_what_is_published(state: Path) -> None:
    site = state / "site" / "current"

    for url in re.findall(r"<loc>[a-z]+://[^/]+(/[^<]*)</loc>", (site / "sitemap.xml").read_text()):
        path = url.split("?")[0]
        if path.startswith("/x402-buyer/"):
            continue
        target = site / path.lstrip("/")
        assert target.is_file() or (target / "index.html").is_file(), url


@pytest.mark.parametrize("name", ["llms.txt", "llms-full.txt", "SKILL.md"])
def test_every_address_that_the_guides_name_is_published(state: Path, name: str) -> None:
    site = state / "site" / "current"
    text = (site / name).read_text()
    served_by_the_gateway = ("/x402-buyer/", *(row.path for row in PRODUCTS))

    named = re.findall(r"\]\(http://127\.0\.0\.1:8402(/[^)?]*)", text)
    gone = [path for path in named if not path.startswith(served_by_the_gateway) and not there(site, path)]

    assert not gone
    if name == "llms-full.txt":
        assert {*(file.path for file in DOWNLOADS), *(feed.path for feed in FEEDS)} <= set(named)


def there(site: Path, path: str) -> bool:
    return (site / path.lstrip("/")).is_file() or (site / path.lstrip("/") / "index.html").is_file()


def test_every_page_names_a_share_picture_that_is_published(state: Path) -> None:
    site = state / "site" / "current"

    for page in PAGES:
        found = re.findall(r'og:image" content="http://127\.0\.0\.1:8402([^"]+)"', (site / page.file[1:]).read_text())
        own = SHARE_PICTURES.get(page.path, SHARE_PICTURE).path
        assert found == [own]
        assert there(site, found[0])


def test_every_link_of_every_page_leads_somewhere(state: Path) -> None:
    site = state / "site" / "current"
    served_by_the_gateway = ("/x402-buyer/", *(row.path for row in PRODUCTS))

    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="(/[^"#?]*)', page.read_text()):
            found = (site / target.lstrip("/")).is_file() or (site / target.lstrip("/") / "index.html").is_file()
            assert found or target.startswith(served_by_the_gateway), (page.name, target)
