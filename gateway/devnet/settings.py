"""The settings of one devnet process, and where a running one is found."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.wire import ports
from gateway.wire.foreign import read_json
from gateway.wire.networks import DEVNET, Network

FILE: Final = "devnet.json"


@dataclass(frozen=True, slots=True)
class DevnetSettings:
    """Settings of one devnet.

    Args:
        state_path: the ledger's SQLite file, made with its folder; the keys lie next to it, 0600.
        identity: the network that it says it is.
        port: TCP port.
        payees: addresses that are opted in to the asset at start, so that they can be paid.
    """

    state_path: Path
    identity: Network = DEVNET
    port: int = ports.DEVNET
    payees: tuple[str, ...] = ()


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
        return str(read_json((state_dir / FILE).read_text(encoding="utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
