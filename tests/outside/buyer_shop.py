"""A gateway that also serves the page's own files, and wallets that a test puts into the page."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from algosdk import encoding

from gateway.devnet.keys import Key, new_key
from gateway.devnet.transactions import parse_item, signed
from gateway.settings import DEMO_PAYEE
from gateway.wire.networks import DEVNET, MAINNET, Network
from generator.site.files.sample import bundled_files
from tests.support.local_servers import Shop, shop

ASSETS = Path(__file__).resolve().parents[2] / "site" / "assets"
RELEASE = "000000000001"


@contextmanager
def a_shop(folder: Path, identity: Network = DEVNET) -> Iterator[Shop]:
    """Run a devnet and a gateway over a small vault, with the site's own files."""
    release = folder / "site" / "releases" / RELEASE
    shutil.copytree(ASSETS, release / "assets")
    shutil.copy(ASSETS / "favicon.svg", release / "favicon.svg")
    (release / "samples").mkdir()
    for path, content in bundled_files().items():
        (release / path.lstrip("/")).write_bytes(content)
    (folder / "site" / "current").symlink_to(f"releases/{RELEASE}")
    with shop(folder, preview=True, identity=identity) as open_shop:
        yield open_shop


class Wallet:
    """A wallet with a real key, which signs when the page's fake provider asks.

    Args:
        shop: where its money is.
        usdc_atomic: what it holds; None when it is not opted in.
    """

    def __init__(self, shop: Shop, usdc_atomic: int | None = 5_000_000, *, funded: bool = True) -> None:
        self.key: Key = new_key()
        self.signed = 0
        self._shop = shop
        if funded and usdc_atomic is not None:
            shop.ledger.fund(self.key.address, 1_000_000, usdc_atomic)
        elif funded:
            _give_algo(shop, self.key.address)

    def sign(self, unsigned: str) -> str:
        """Return the signed transaction, base64."""
        self.signed += 1
        return base64.b64encode(signed(parse_item(base64.b64decode(unsigned)), self.key.secret).wire).decode()

    def sign_other(self, unsigned: str) -> str:
        """Sign another transaction than the one asked for: ten times the amount."""
        fields = dict(parse_item(base64.b64decode(unsigned)).fields)
        fields["aamt"] *= 10
        item = parse_item(base64.b64decode(encoding.msgpack_encode(fields)))
        return base64.b64encode(signed(item, self.key.secret).wire).decode()

    def sign_badly(self, unsigned: str) -> str:
        """Sign with the key of somebody else."""
        return base64.b64encode(signed(parse_item(base64.b64decode(unsigned)), new_key().secret).wire).decode()

    def spent(self) -> int:
        """Return atomic units that left this wallet, counted from 5 USDC."""
        return 5_000_000 - (self._shop.ledger.holding(self.key.address) or 0)

    def transfers(self) -> int:
        """Return how many transfers of this wallet the ledger has."""
        return sum(1 for _ in self._shop.ledger.search(self.key.address, "sender"))


def _give_algo(shop: Shop, address: str) -> None:
    # The faucet opts every account in; a row of its own holds ALGO alone.
    shop.ledger._database.execute("INSERT INTO accounts VALUES (?, ?)", (address, 1_000_000))


# What wallets put into a page, as far as the pages use it; PLAN says whose they are and where they fail.
ARC0001 = """
globalThis.algorand = {
  async enable(asked) {
    const plan = PLAN;
    if (plan.connect === "decline") throw Object.assign(new Error("User Rejected Request"), { code: 4001 });
    return { genesisID: asked.genesisID, genesisHash: plan.hash || asked.genesisHash, accounts: plan.accounts };
  },
  async signTxns(txns) {
    const plan = PLAN;
    if (plan.sign === "decline") throw Object.assign(new Error("User Rejected Request"), { code: 4001 });
    if (plan.sign === "wait") await new Promise((next) => { globalThis.letSign = next; });
    return Promise.all(txns.map((one) => (one.signers?.length === 0 ? null : globalThis.signWith(one.txn))));
  },
};
"""
ARC0027 = """
for (const [method, answer] of Object.entries({
  discover: () => {
    const network = { genesisHash: PLAN.hash, genesisId: "x", methods: PLAN.methods || [] };
    return { name: "Fake", providerId: "fake-1", networks: [network] };
  },
  enable: () => {
    const accounts = PLAN.accounts.map((address) => ({ address }));
    return { accounts, genesisHash: PLAN.hash, providerId: "fake-1" };
  },
  sign_transactions: async (params) => {
    if (PLAN.sign === "decline") throw { code: 4001, message: "canceled" };
    const signed = params.txns.map((one) => (one.signers?.length === 0 ? null : globalThis.signWith(one.txn)));
    return { providerId: "fake-1", stxns: await Promise.all(signed) };
  },
})) {
  addEventListener(`arc0027:${method}:request`, async (event) => {
    const { id, params } = event.detail;
    const reply = (content) => {
      const detail = JSON.stringify({ id: "r", requestId: id, ...content });
      dispatchEvent(new CustomEvent(`arc0027:${method}:response`, { detail }));
    };
    reply({ result: "of somebody else's request", requestId: "other" });
    try {
      reply({ result: await answer(params) });
    } catch (error) {
      reply({ error: { code: error.code || 4100, message: error.message } });
    }
  });
}
"""
LUTE_PAGE = """<!doctype html><title>fake Lute</title><script>
addEventListener("message", async (event) => {
  const asked = event.data;
  if (asked.action === "network") opener.postMessage({ action: "connect", addrs: [ADDRESS] }, "*");
  if (asked.action === "sign") {
    if (PLAN === "decline") opener.postMessage({ action: "close" }, "*");
    else {
      const text = await globalThis.signWith(asked.txns.at(-1).txn);
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      opener.postMessage({ action: "signed", txns: [...asked.txns.slice(1).map(() => null), bytes] }, "*");
    }
  }
  setTimeout(() => close(), 50);
});
opener.postMessage({ action: "ready" }, "*");
</script>"""


def provider(script: str, address: str, **plan: Any) -> str:
    """Return a provider's script with what it does in this test."""
    return script.replace("PLAN", json.dumps({"accounts": [address], "hash": DEVNET.genesis_hash, **plan}))


__all__ = ["ARC0001", "ARC0027", "DEMO_PAYEE", "LUTE_PAGE", "MAINNET", "Wallet", "a_shop", "provider"]
