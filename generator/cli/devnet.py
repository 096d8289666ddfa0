"""`emi devnet`: a simulated Algorand on loopback, with play money."""

from pathlib import Path
from typing import Annotated

import typer


def devnet(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 8403,
    as_network: Annotated[
        str, typer.Option("--as", help="devnet, or testnet to lend the test network's ids to official clients.")
    ] = "devnet",
    state_dir: Annotated[Path | None, typer.Option(help="Where the ledger and the keys are kept.")] = None,
) -> None:
    """Run a facilitator, a node, an indexer and a faucet over one simulated ledger; loopback only.

    Example: emi devnet --port 8403 --as testnet
    """
    from gateway.devnet.errors import DevnetError
    from gateway.devnet.server import serve
    from gateway.devnet.settings import DevnetSettings
    from generator.cli._console import set_up_logs
    from generator.cli._settings import gateway_settings
    from generator.errors import GeneratorError

    shared = gateway_settings(state_dir=state_dir)
    set_up_logs(shared.log_format)
    try:
        settings = DevnetSettings(
            state_path=shared.state_dir
            / ("devnet.sqlite3" if as_network == "devnet" else f"devnet-{as_network}.sqlite3"),
            as_network=as_network,
            port=port,
            payees=(shared.payee,),
        )
        serve(settings, say=lambda line: print(line, flush=True))
    except DevnetError as error:
        raise GeneratorError(str(error)) from error
    except KeyboardInterrupt:
        return
