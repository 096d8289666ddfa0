"""The ports of this machine on which both programs serve by default."""

from typing import Final

GATEWAY: Final = 8402
DEVNET: Final = 8403
