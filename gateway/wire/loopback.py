"""Which hosts are this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a host name or address can only be reached from this machine.

    Args:
        host: a name or an address, brackets of IPv6 already removed.
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
