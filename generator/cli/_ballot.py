"""What `emi vote` needs: the open round as published, the voter's key, a drop into the inbox, or a way on chain."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway.wire.algorand import DEMO_ARENA, key_of
from generator.catalog.words import Prediction
from generator.cli._node import Node
from generator.cli._published import Published, PublishedError, read_json
from generator.errors import GeneratorError
from generator.settings import GeneratorSettings

PUBLISHED = "/api/human-consensus.php"
CONFIRMED_WITHIN_S = 15.0


class VoteError(GeneratorError):
    """The vote cannot be cast; nothing was written."""


@dataclass(frozen=True, slots=True)
class OpenRound:
    """The round that takes votes, as published."""

    round_id: str
    closes: str
    commitment: str | None = None


def check_choice(text: str) -> Prediction:
    """Read a choice, in any case.

    Raises:
        VoteError: it is none of the three.
    """
    try:
        return Prediction(text.upper())
    except ValueError:
        raise VoteError(f"choice is {text!r}; allowed: {', '.join(Prediction)}") from None


def arena_address(settings: GeneratorSettings) -> str:
    """Return the arena's address.

    Raises:
        VoteError: the setting is no address.
    """
    address = settings.arena.address or DEMO_ARENA
    try:
        key_of(address)
    except ValueError as error:
        raise VoteError(f"EMI_ARENA__ADDRESS: {error}") from None
    return address


def find_open_round(origin: str | None, site: Path, wanted: str | None, now: datetime | None = None) -> OpenRound:
    """Find the round that takes votes.

    Args:
        origin: where to ask; None reads the published site of this machine.
        site: its folder.
        wanted: the only round to vote in, None for whichever is open.
        now: aware UTC wall time; None asks the machine.

    Raises:
        VoteError: nothing is published, no round is open, or it is another than the wanted one.
    """
    body = read_json(Published(origin or site), PUBLISHED)
    found = body.get("open_round") if isinstance(body, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("round_id"), str):
        raise VoteError(
            "no round takes votes now; the next opens when the brain has a forecast, look again in a minute"
        )
    taking = OpenRound(found["round_id"], str(found.get("closes")), found.get("commitment"))
    if wanted is not None and wanted != taking.round_id:
        raise VoteError(f"round {wanted} does not take votes; {taking.round_id} does, until {taking.closes}")
    if _passed(taking.closes, now or datetime.now(UTC)):
        raise VoteError(
            f"votes in {taking.round_id} closed {taking.closes}; what is published is stale, is the service up?"
        )
    return taking


def is_made_here(found: OpenRound, site: Path) -> bool:
    """Return whether the generator of this site folder made a round that an origin shows.

    Every Arena names its rounds alike; only the digest of a sealed forecast, which is salted, is of one generator.
    """
    try:
        body = read_json(Published(site), PUBLISHED)
    except PublishedError:
        return False
    ours = body.get("open_round") if isinstance(body, dict) else None
    return found.commitment is not None and isinstance(ours, dict) and ours.get("commitment") == found.commitment


def _passed(closes: str, now: datetime) -> bool:
    try:
        return datetime.fromisoformat(closes) <= now
    except (ValueError, TypeError):
        raise VoteError(f"the published closing time {closes!r} is not a time") from None


def load_key(path: Path) -> str:
    """Read the voter's key; make one, readable by its owner only, on first use.

    Raises:
        VoteError: the file cannot be read or written, is no key, or others may read it.
    """
    try:
        _make_key(path)
        if path.stat().st_mode & 0o077:
            raise VoteError(f"{path} may be read by others: chmod 600 it")
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise VoteError(f"voter's key {path} cannot be used: {error}") from None
    if not _is_key(key):
        raise VoteError(f"{path} holds no voter's key; remove it to get a new one")
    return key


def _make_key(path: Path) -> None:
    """Write a new key beside its place and link it in, so that a crash never leaves half a key."""
    from algosdk.account import generate_account

    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(generate_account()[0] + "\n")
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _is_key(text: str) -> bool:
    import base64

    try:
        return len(base64.b64decode(text, validate=True)) == 64
    except ValueError:
        return False


def drop_into_store(url: str, txid: str, data: bytes) -> str:
    """Put a ballot into an inbox in an object store, and return where it lies.

    Raises:
        VoteError: the store does not take it.
    """
    from generator.wings.bucket.places import inbox_shelf

    name = f"{txid}.ballot"
    try:
        inbox_shelf(url).put(name, data)
    except (OSError, GeneratorError) as error:
        raise VoteError(f"inbox {url} does not take the ballot: {error}") from None
    return f"{url}/{name}"


@dataclass(frozen=True, slots=True)
class Chain:
    """Where a ballot is submitted.

    Args:
        node: asked and handed the ballot.
        network: the name of the network that the Arena counts votes of.
        faucet: origin of a devnet's faucet, None where money is real.
    """

    node: Node
    network: str
    faucet: str | None


def chain_of(settings: GeneratorSettings) -> Chain:
    """Return the node as set by ALGOD_URL, else that of the devnet that runs on the same state.

    Raises:
        VoteError: there is none.
    """
    from gateway.devnet.running import running_devnet
    from generator.cli._settings import gateway_settings

    told = gateway_settings(state_dir=settings.state_dir)
    devnet = running_devnet(settings.state_dir)
    url = told.algod_url or (f"{devnet}/algod" if devnet else None)
    if url is None:
        raise VoteError("no node to submit to: set EMI_ALGOD_URL, or start a devnet with `emi up`")
    token = told.algod_token.get_secret_value() if told.algod_token else None
    ours = devnet is not None and url.startswith(devnet)
    return Chain(Node(url, token), settings.network or "devnet", devnet if ours else None)


def submit(chain: Chain, key: str, found: OpenRound, word: Prediction, address: str) -> tuple[str, int, int | None]:
    """Send a ballot on chain.

    Returns:
        Its transaction id, the fee in micro-ALGO, and the round that confirmed it, None when none has yet.

    Raises:
        VoteError: another network, or the account cannot pay the fee; nothing was sent.
        NodeError: the node refused it, or did not answer.
    """
    from base64 import b64decode

    from gateway.wire.networks import NETWORKS
    from generator.arena.signing import sign_ballot

    terms, genesis = chain.node.terms(), NETWORKS[chain.network].genesis_hash
    if terms.genesis_hash != genesis:
        raise VoteError(
            f"the node is of network {terms.params.gen}, votes are of {chain.network}; set EMI_ALGOD_URL or EMI_NETWORK"
        )
    check_fee(chain, key, terms.params.fee)
    txid, data = sign_ballot(key, found.round_id, word, address, genesis, on_chain=terms.params)
    chain.node.send(b64decode(data), txid)
    return txid, terms.params.fee, chain.node.wait(txid, CONFIRMED_WITHIN_S)


def check_fee(chain: Chain, key: str, fee: int) -> None:
    """Make sure that an account can pay a fee; a devnet's faucet helps.

    Raises:
        VoteError: it cannot.
        NodeError: the node does not answer.
    """
    from algosdk.account import address_from_private_key

    voter = address_from_private_key(key)
    if chain.node.spendable(voter) >= fee:
        return
    if chain.faucet is not None:
        chain.node.fund(chain.faucet, voter)
        return
    raise VoteError(
        f"account {voter} cannot pay the fee of {fee} micro-ALGO: fund it, or vote without --submit, which costs nothing"
    )


def drop(folder: Path, txid: str, data: bytes) -> Path:
    """Put a ballot into the inbox in one step: the generator never sees half of it.

    Raises:
        VoteError: the folder cannot be written.
    """
    path = folder / f"{txid}.ballot"
    draft = folder / f".{txid}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise VoteError(f"inbox {folder} cannot be written: {error.strerror}") from None
    return path
