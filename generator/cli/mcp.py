"""`emi mcp`: the service as tools for an agent, over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from generator.client.agent.buying import Wallet
    from generator.client.agent.spending import Caps


def mcp(  # noqa: PLR0917  typer passes by name
    url: Annotated[str | None, typer.Option(help="Origin of the service. Default: the one that runs here.")] = None,
    wallet: Annotated[
        Path | None,
        typer.Option(help="Key file of a devnet account that pays; without it the demand goes to whoever calls."),
    ] = None,
    cap_call: Annotated[str, typer.Option(help="The most that one purchase may cost, in USDC.")] = "0.10",
    cap_day: Annotated[str, typer.Option(help="The most that is spent on a UTC day, in USDC.")] = "1",
    cap_life: Annotated[str, typer.Option(help="The most that is ever spent with this state, in USDC.")] = "10",
    payee: Annotated[
        str | None, typer.Option(help="The only address that may be paid. Default: the one of the settings here.")
    ] = None,
    node: Annotated[
        str | None, typer.Option(help="Origin of the devnet: node, indexer, faucet. Default: detected.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(help="Folder of what was spent and bought. Default: ~/.local/state/emi.")
    ] = None,
) -> None:
    """Serve eight tools over standard input and output (MCP): read, verify, and buy within caps.

    What was spent is kept between processes and restarts. No tool raises a cap. How to load it: docs/howto/clients.md.

    Example: emi mcp --url http://127.0.0.1:8402 --wallet buyer.key --cap-day 0.50
    """
    import asyncio

    from generator.cli._settings import gateway_settings
    from generator.cli._urls import origin_of, service_origin
    from generator.client.agent.buying import atomic_of
    from generator.client.agent.spending import Caps

    settings = gateway_settings()
    origin = origin_of(url) if url else service_origin(settings)
    folder = state or Path.home() / ".local" / "state" / "emi"
    caps = Caps(*(atomic_of(cap) for cap in (cap_call, cap_day, cap_life)))
    pays = None
    if wallet is not None:
        from generator.cli.buy import devnet_origin

        devnet = devnet_origin(origin_of(node) if node else None, origin, settings)
        pays = _wallet(wallet, folder, caps, devnet, payee or settings.payee)
    asyncio.run(_serve(origin, folder, pays))


def _wallet(file: Path, folder: Path, caps: Caps, devnet: str, payee: str) -> Wallet:
    from gateway.devnet.keys import load_or_make
    from generator.client.agent.buying import Wallet
    from generator.client.agent.spending import Spending
    from generator.errors import GeneratorError

    if not file.is_file():
        raise GeneratorError(f"there is no wallet {file}; on a devnet `emi buy market-regime` makes one")
    return Wallet(load_or_make(file), devnet, Spending(folder, caps), payee)


async def _serve(origin: str, folder: Path, wallet: Wallet | None) -> None:
    from gateway.wire.extras import missing
    from gateway.wire.program import this_program
    from generator.client.buying.web import open_web
    from generator.errors import GeneratorError
    from generator.site.resources import Resources

    try:
        from mcp.server.stdio import stdio_server

        from generator.client.agent.service import agent_server
    except ImportError as error:
        raise GeneratorError(missing("emi mcp", "mcp")) from error

    icon = (Resources.locate().site / "assets" / "favicon.svg").read_bytes()
    async with open_web() as web:
        server: Any = agent_server(web, origin, folder, wallet).build(str(this_program()), icon)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
