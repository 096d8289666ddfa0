"""The way out: the proxy that the environment names, as other programs read it.

HTTPS_PROXY, HTTP_PROXY and NO_PROXY are urllib's rules; SSL_CERT_FILE is OpenSSL's own, for every client here.
"""

import ssl
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from gateway.wire.loopback import is_loopback


def proxy_for(url: str) -> str | None:
    """Return the proxy for a URL, None where it is asked directly; this machine always is."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)


def described() -> str | None:
    """Describe proxy and certificates of the environment, without credentials; None where it names neither."""
    ways = []
    proxy = proxy_for("https://example.org")
    if proxy is not None:
        ways.append(f"HTTPS_PROXY leads through {urlsplit(proxy).hostname}:{urlsplit(proxy).port}")
    trusted = ssl.get_default_verify_paths()
    if trusted.cafile not in {None, trusted.openssl_cafile}:
        ways.append(f"{trusted.openssl_cafile_env} trusts {trusted.cafile}")
    return ", ".join(ways) or None
