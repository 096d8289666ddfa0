"""`emi gateway`: the paid endpoints and the buyer page."""

from typing import Annotated

import typer


def gateway(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Serve the published site too; loopback only.")] = False,
) -> None:
    """Serve the paid endpoints and the buyer page.

    Example: EMI_NETWORK=testnet EMI_PAY_TO=ADDRESS EMI_FACILITATOR_URL=https://facilitator.example emi gateway
    """
    from gateway.app.application import serve
    from generator.cli._console import set_up_logs
    from generator.cli._settings import gateway_settings

    settings = gateway_settings(host=host, port=port)
    set_up_logs(settings.log_format)
    serve(settings, preview=preview)
