"""Headers whose payment was delivered, so that a repeat need not be decoded and its signature not checked again.

What a header says is a pure function of its bytes. What a repeat gets is decided as for every other payment: by its
product, its identifier and the chain's rounds.
"""

import hashlib
from collections import OrderedDict
from dataclasses import replace

from gateway.payments.deliveries import MAX_REMEMBERED
from gateway.values import Payment


class KnownHeaders:
    """The payments of the newest deliveries, by the digest of header and path; the least used goes first.

    They lack what is only forwarded to the facilitator: its group, resource and extensions.
    """

    def __init__(self, most: int = MAX_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[bytes, Payment] = OrderedDict()

    def find(self, header: bytes, path: str) -> Payment | None:
        """Return the payment of a header that was delivered at this path before, None if it is not remembered."""
        digest = _digest(header, path)
        payment = self._known.get(digest)
        if payment is not None:
            self._known.move_to_end(digest)
        return payment

    def add(self, header: bytes, path: str, payment: Payment) -> None:
        """Remember the payment of a header that was delivered at a path."""
        self._known[_digest(header, path)] = replace(payment, group=(), resource=None, extensions=None)
        if len(self._known) > self._most:
            self._known.popitem(last=False)


def _digest(header: bytes, path: str) -> bytes:
    # A header holds no line break, so that no other pair gives the same bytes.
    return hashlib.sha256(header + b"\n" + path.encode()).digest()
