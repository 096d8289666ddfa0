"""Resolvers at a link-local address, which the units may not reach: no name would resolve."""

import ipaddress
from typing import Final

from generator.operate.setup.machine import Machine

RESOLVERS: Final = "/etc/resolv.conf"
DROP_IN: Final = "/etc/systemd/system/emi-.service.d/resolver.conf"


def link_local_resolvers(machine: Machine) -> list[str]:
    """Return the resolvers that a machine's programs ask at link-local addresses, as clouds have them."""
    resolvers = []
    for line in (machine.read(RESOLVERS) or b"").decode(errors="replace").splitlines():
        keyword, _, rest = line.strip().partition(" ")
        address = rest.strip().partition("%")[0]
        if keyword == "nameserver" and _is_link_local(address):
            resolvers.append(address)
    return resolvers


def _is_link_local(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_link_local
    except ValueError:
        return False


def advice(machine: Machine) -> str | None:
    """Say which resolvers the units may not reach, and how they may; None where there are none or the drop-in is.

    >>> from pathlib import Path
    >>> advice(Machine(Path("/nowhere"))) is None
    True
    """
    addresses = link_local_resolvers(machine)
    allowed = (machine.read(DROP_IN) or b"").decode(errors="replace")
    missing = [address for address in addresses if f"IPAddressAllow={address}" not in allowed]
    if not missing:
        return None

    lines = "\\n".join(["[Service]", *(f"IPAddressAllow={address}" for address in missing), ""])
    folder = DROP_IN.rpartition("/")[0]
    return (
        f"{RESOLVERS} names {', '.join(missing)}, which IPAddressDeny=link-local keeps from the units, so that no name "
        f"resolves. Let systemd-resolved ask it, or allow it: mkdir -p {folder} && printf '{lines}' > {DROP_IN} && "
        "systemctl daemon-reload && systemctl restart emi-schedule emi-gateway"
    )
