from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.outside.market import HAVE, MISSING, Market, market


@pytest.fixture(scope="session")
def lent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Market]:
    """A devnet lent the test network's ids, every facilitator that this machine has, a gateway before each."""
    if not any(HAVE.values()):
        pytest.skip("; ".join(MISSING.values()))
    with market(tmp_path_factory.mktemp("lent")) as running:
        yield running
