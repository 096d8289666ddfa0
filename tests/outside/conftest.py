from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.outside.buyer_shop import a_shop
from tests.outside.market import HAVE, MISSING, Market, market
from tests.support.local_servers import Shop
from tests.support.processes import emi


@pytest.fixture(scope="session")
def lent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A devnet lent the test network's ids, every facilitator that this machine has, a gateway before each."""
    if not any(HAVE.values()):
        pytest.skip("; ".join(MISSING.values()))
    with market(tmp_path_factory.mktemp("lent")) as running:
        yield running


@pytest.fixture(scope="session")
def ticked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A STATE_DIR after two real ticks: releases 1 and 2."""
    folder = tmp_path_factory.mktemp("ticked")
    for _ in range(2):
        done = emi("tick", cwd=folder, timeout_s=120, EMI_STATE_DIR="state")
        assert done.returncode == 0, done.stderr
    return folder / "state"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A gateway with the buyer page, over a devnet."""
    with a_shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium; no longer than a module, since its loop stays open in this thread."""
    from tests.outside.site_pages import a_browser

    with a_browser() as running:
        yield running


@pytest.fixture(autouse=True)
def contexts_closed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close what a test opened: a context keeps its connections, and a gateway gives one address 64 of them."""
    browser = request.getfixturevalue("browser") if "browser" in request.fixturenames else None
    before = list(browser.contexts) if browser else []
    yield
    for made in browser.contexts if browser else []:
        if made not in before:
            made.close()


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    """What one visitor of a desk's width keeps: storage, tabs."""
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    yield made
    made.close()
