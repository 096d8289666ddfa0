"""The settings of one devnet process, checked before anything starts, and where a running one is found."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.devnet.errors import DevnetError
from gateway.wire.networks import DEVNET, TESTNET, Network

IDENTITIES: Final[dict[str, Network]] = {network.name: network for network in (DEVNET, TESTNET)}
"""Which networks a devnet can be: its own, or the test network's ids, lent for official clients."""
FILE: Final = "devnet.json"


@dataclass(frozen=True, slots=True)
class DevnetSettings:
    """Settings of one devnet.

    Args:
        state_path: the ledger's SQLite file; created with its folder.
        as_network: `devnet`, or `testnet` to lend the test network's ids.
        port: TCP port, 1..65535.
        payees: addresses that are opted in to the asset at start, so that they can be paid.
    """

    state_path: Path
    as_network: str = "devnet"
    port: int = 8403
    payees: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a wrong value with one line that says what is allowed.

        Raises:
            DevnetError: a network or port that a devnet cannot have.
        """
        if self.as_network not in IDENTITIES:
            raise DevnetError(f"--as {self.as_network}: a devnet can be {' or '.join(IDENTITIES)}")
        if not 0 < self.port < 65_536:
            raise DevnetError(f"port {self.port}: a port is a number from 1 to 65535")

    @property
    def identity(self) -> Network:
        """The network that this devnet says it is."""
        return IDENTITIES[self.as_network]

    @property
    def keys(self) -> Path:
        """Where the facilitator's and the page wallet's keys are kept, 0600."""
        return self.state_path.parent / "keys"


@contextmanager
def announced(state_dir: Path, origin: str) -> Iterator[None]:
    """Say where the devnet answers, for as long as it does."""
    path = state_dir / FILE
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps({"url": origin}), encoding="utf-8")
    draft.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def running_devnet(state_dir: Path) -> str | None:
    """Return the origin that the last devnet of this state announced, None when there is none."""
    try:
        content = json.loads((state_dir / FILE).read_text(encoding="utf-8"))
        return str(content["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
