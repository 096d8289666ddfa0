"""`emi gateway`: the paid endpoints and the buyer page."""

from typing import Annotated

import typer


def gateway(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Serve the published site too; loopback only.")] = False,
    build_wallets: Annotated[
        bool, typer.Option("--build-wallets", help="Fetch Pera and Defly for the buyer page instead, and end.")
    ] = False,
) -> None:
    """Serve the paid endpoints and the buyer page.

    With --build-wallets nothing is served: npm fetches Pera's and Defly's own code at fixed versions, runs no install
    script of any package, and what it bundles lies in STATE_DIR/buyer-wallets. A gateway that runs offers the two
    wallets from then on; remove the folder to take them away again.

    Example: EMI_NETWORK=testnet EMI_PAY_TO=ADDRESS EMI_FACILITATOR_URL=https://facilitator.example emi gateway
    """
    if build_wallets:
        from generator.cli._buyer_wallets import build

        build()
        return
    from gateway.app.application import serve
    from generator.cli._console import set_up_logs
    from generator.cli._settings import gateway_settings

    settings = gateway_settings(host=host, port=port)
    set_up_logs(settings.log_format)
    serve(settings, preview=preview)
