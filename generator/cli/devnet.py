"""`emi devnet`: a simulated Algorand on loopback, with play money."""

from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gateway.wire import ports


class Identity(StrEnum):
    """Which networks a devnet can be."""

    devnet = "devnet"
    testnet = "testnet"


def devnet(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = ports.DEVNET,
    as_network: Annotated[
        Identity, typer.Option("--as", help="devnet, or testnet to lend the test network's ids to official clients.")
    ] = Identity.devnet,
    state_dir: Annotated[Path | None, typer.Option(help="Where the ledger and the keys are kept.")] = None,
) -> None:
    """Run a facilitator, a node, an indexer and a faucet over one simulated ledger; loopback only.

    Example: emi devnet --port 8403 --as testnet
    """
    from gateway.devnet.app import serve
    from gateway.devnet.settings import DevnetSettings
    from gateway.wire.networks import IDENTITIES
    from generator.cli._console import set_up_logs
    from generator.cli._settings import gateway_settings

    shared = gateway_settings(state_dir=state_dir)
    set_up_logs(shared.log_format)
    name = "devnet.sqlite3" if as_network == "devnet" else f"devnet-{as_network}.sqlite3"
    settings = DevnetSettings(shared.state_dir / name, IDENTITIES[as_network], port, (shared.payee,))
    with suppress(KeyboardInterrupt):
        serve(settings, say=lambda line: print(line, flush=True))
