"""What has to be right before real money is taken: one line each, with the step to take."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from gateway.settings import DEMO_PAYEE
from gateway.wire.algorand import ROUND_S
from gateway.wire.foreign import read_json
from gateway.wire.limits import CERTIFICATE_DAYS, CLOCK_STEP_S
from gateway.wire.loopback import is_loopback
from gateway.wire.receipts import DID_PATH, ReceiptError, keys_of, read_key
from generator.catalog.durations import DAY_S
from generator.cli._looking import certificate_of
from generator.cli._urls import local_origin
from generator.client.published import fetch
from generator.operate.keep.status import Status
from generator.operate.watch.check import Check

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.settings import GatewaySettings
    from generator.settings import GeneratorSettings

ASK_S: Final = 10.0
LAG_S: Final = 5.0  # of an indexer behind the chain
DAYS: Final = 20
LISTED_PAGES: Final = 20
PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """What a URL answered: its status and JSON object, or why there is none."""

    status: int
    body: Mapping[str, Any]
    fault: str = ""


def before_live(settings: GeneratorSettings, gateway: GatewaySettings, now: datetime) -> Iterator[Check]:
    """Yield every check; what cannot be looked at from here has no verdict."""
    yield from _settings(settings, gateway)
    yield from _chain(gateway, now)
    yield from _facilitator(gateway)
    yield from _readers(gateway, now)
    yield from _receipts(gateway)
    yield _disk(settings, now)
    yield from _kept(settings, now)


def _settings(settings: GeneratorSettings, gateway: GatewaySettings) -> Iterator[Check]:
    named = {
        "EMI_BASE_URL": settings.base_url or "",
        "EMI_CONTACT": settings.contact,
        "EMI_FACILITATOR_URL": gateway.facilitator_url or "",
        "EMI_ALGOD_URL": gateway.algod_url or "",
        "EMI_INDEXER_URL": gateway.indexer_url or "",
    }
    for name, value in named.items():
        if not value:
            yield Check(name, False, "is not set; set it")
        elif "example" in value:
            yield Check(name, False, f"{value} is the example; set your own")
        else:
            yield Check(name, True, value)

    live = settings.source == "live"
    yield Check("EMI_SOURCE", live, "live" if live else f"{settings.mode}; real money is taken for live data only")
    real = gateway.network == "mainnet"
    yield Check("EMI_NETWORK", real, gateway.network if real else f"{gateway.network}; set mainnet when the rest is ok")
    alarmed = bool(settings.alert_cmd or settings.ping_url)
    step = "set EMI_ALERT_CMD or EMI_PING_URL, and try `emi watch --test`"
    yield Check("alarms", alarmed, "somebody hears of a fault" if alarmed else f"no one hears of a fault; {step}")


def _chain(gateway: GatewaySettings, now: datetime) -> Iterator[Check]:
    if gateway.algod_url is None:
        yield Check("payee", None, "EMI_ALGOD_URL is not set")
        return

    network = gateway.chain_network
    token = {"X-Algo-API-Token": gateway.algod_token.get_secret_value()} if gateway.algod_token else {}
    params = _ask(f"{gateway.algod_url}/v2/transactions/params", token)
    if params.status != HTTPStatus.OK:
        yield Check("algod", False, f"{params.fault or params.status}; another node, or its token")
        return

    # A node of another network would confirm payments that the payee never gets.
    same = params.body.get("genesis-hash") == network.genesis_hash
    node = network.name if same else f"is of another network than {network.name}; set EMI_ALGOD_URL"
    yield Check("algod", same, node)
    yield from _payee(gateway, _ask(f"{gateway.algod_url}/v2/accounts/{gateway.payee}", token))

    if gateway.indexer_url is not None:
        yield _clock(gateway, now)


def _payee(gateway: GatewaySettings, account: Answer) -> Iterator[Check]:
    if gateway.payee == DEMO_PAYEE:
        yield Check("payee", False, "is the demo address; set EMI_PAY_TO to one whose key you hold")
        return
    if account.status != HTTPStatus.OK:
        yield Check("payee", False, f"{account.fault or account.status}; fund {gateway.payee} with 0.3 ALGO")
        return

    asset = gateway.chain_network.asset_id
    held = {row.get("asset-id"): row.get("amount", 0) for row in account.body.get("assets", [])}
    algos = account.body.get("amount", 0) / 1e6
    if asset in held:
        yield Check("payee", True, f"opted in to asset {asset}; {algos:.3f} ALGO, {held[asset] / 1e6:.2f} USDC")
    else:
        yield Check(
            "payee", False, f"has not opted in to asset {asset}; opt in with your wallet, else no payment arrives"
        )

    least = account.body.get("min-balance", 0) / 1e6
    enough = algos >= least
    step = "" if enough else "; send it some ALGO"
    yield Check("payee's balance", enough, f"{algos:.3f} ALGO, {least:.3f} are needed to hold the asset{step}")


def _clock(gateway: GatewaySettings, now: datetime) -> Check:
    """Compare with the newest block, which is up to a round and the indexer's lag old."""
    token = {"X-Indexer-API-Token": gateway.indexer_token.get_secret_value()} if gateway.indexer_token else {}
    began_s = time.monotonic()
    health = _ask(f"{gateway.indexer_url}/health", token)
    block = _ask(f"{gateway.indexer_url}/v2/blocks/{health.body.get('round')}", token)
    made_at = block.body.get("timestamp")
    if not isinstance(made_at, int):
        return Check("clock", None, f"the indexer does not say when its newest block was made ({block.status})")

    age_s = now.timestamp() + time.monotonic() - began_s - made_at
    if age_s < -CLOCK_STEP_S:
        return Check("clock", False, f"{-age_s:.1f} s behind the chain; look at `timedatectl`")
    if age_s > ROUND_S + CLOCK_STEP_S + LAG_S:
        return Check("clock", False, f"ahead, or the indexer is late: its newest block is {age_s:.0f} s old")
    return Check("clock", True, f"the chain's newest block is {age_s:.1f} s old")


def _facilitator(gateway: GatewaySettings) -> Iterator[Check]:
    base = gateway.facilitator_url
    if base is None:
        yield Check("facilitator", None, "EMI_FACILITATOR_URL is not set")
        return
    token = gateway.facilitator_token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    supported = _ask(f"{base}/supported", headers)
    kinds = supported.body.get("kinds", [])
    forms = gateway.chain_network.forms
    ours = [kind for kind in kinds if isinstance(kind, dict) and kind.get("network") in forms]
    if ours:
        yield Check("facilitator", True, f"offers {ours[0]['network']}")
    else:
        why = supported.fault or f"{supported.status}, {len(kinds)} kinds, none of {gateway.network}"
        yield Check("facilitator", False, f"{why}; choose another")

    yield _listing(base, headers, gateway.origin)
    yield _last_word(gateway)


def _listing(base: str, headers: Mapping[str, str], origin: str) -> Check:
    """Look for our own resources in the facilitator's list."""
    listed = 0
    for page in range(LISTED_PAGES):
        answer = _ask(f"{base}/discovery/resources?type=http&limit={PAGE}&offset={page * PAGE}", headers)
        rows = answer.body.get("items")
        if answer.status != HTTPStatus.OK or not isinstance(rows, list):
            return Check("listing", None, f"it has no /discovery/resources ({answer.fault or answer.status})")
        listed += sum(
            1 for row in rows if isinstance(row, dict) and str(row.get("resource", "")).startswith(f"{origin}/")
        )
        if len(rows) < PAGE:
            break

    if listed:
        return Check("listing", True, f"{listed} of our resources are listed")
    step = "buy once with a client that sends back the challenge's `extensions`"
    return Check("listing", None, f"none of our resources is listed by the facilitator; {step}")


def _last_word(gateway: GatewaySettings) -> Check:
    """Show what the facilitator said of the extensions with its last settlement, kept by the running gateway."""
    ready = _ask(f"{local_origin(gateway.host, gateway.port)}/readyz")
    word = ready.body.get("facilitator_extension_responses")
    if word is None:
        return Check("its last word on listing", None, "no settlement since the gateway's start, or none was sent")
    refused = "reject" in str(word).lower()
    return Check("its last word on listing", not refused, str(word))


def _readers(gateway: GatewaySettings, now: datetime) -> Iterator[Check]:
    origin = gateway.origin
    if is_loopback(urlsplit(origin).hostname or ""):
        yield Check("base URL", False, f"{origin} is this machine only; set EMI_BASE_URL to the public https origin")
        return
    status = _ask(f"{origin}/status.json")
    good = status.status == HTTPStatus.OK
    answers = f"{origin} answers, asked from this machine; ask once more from another network, e.g. a phone's"
    if not good:
        answers = f"{status.fault or status.status}; look at DNS, firewall and edge"
    yield Check("base URL", good, answers)

    if not origin.startswith("https://"):
        yield Check("TLS", False, f"{origin} is plain http; put a certificate before it")
        return
    try:
        shown = certificate_of(origin, ASK_S)
    except OSError as error:
        yield Check("TLS", False, f"{error}; look at the edge")
        return
    if shown is None or shown.ends_at is None:
        yield Check("TLS", False, f"{shown.fault if shown else 'no certificate'}; renew it")
        return
    days = (shown.ends_at - now.timestamp()) / DAY_S
    enough = days >= CERTIFICATE_DAYS
    yield Check("TLS", enough, f"the certificate ends in {days:.0f} days" + ("" if enough else "; renew it"))


def _receipts(gateway: GatewaySettings) -> Iterator[Check]:
    """Say whether the key that signs receipts is one that readers can find; nothing where none signs."""
    step = "copy receipt.pub to the generator's folder of keys"
    try:
        key = read_key(gateway.receipt_key_path)
        if key is None:
            return
        published = keys_of(dict(_ask(gateway.origin + DID_PATH).body))
    except ReceiptError as error:
        yield Check("receipts", False, f"{error}; {step}")
        return

    is_published = any(name.endswith(f"#{key.public.name}") for name in published)
    yield Check(
        "receipts",
        is_published,
        f"their key is at {DID_PATH}" if is_published else f"{DID_PATH} lacks their key; {step}",
    )


def _disk(settings: GeneratorSettings, now: datetime) -> Check:
    """Divide the free room by what the service has taken a day since its first start."""
    begun = settings.log_key_path
    if not begun.exists():
        return Check("disk", None, f"{begun} is not readable from here; run this as the generator's user")
    days = (now.timestamp() - begun.stat().st_mtime) / DAY_S
    if days < 1:
        return Check("disk", None, "the growth of a day is not known yet")

    places = {settings.state_dir.resolve(), settings.site_path.resolve()}
    taken = sum(_bytes_of(place) for place in places if not any(other in place.parents for other in places))
    free = shutil.disk_usage(settings.state_dir).free
    left = free * days / max(taken, 1)
    growth = f"{taken / days / 1e6:.1f} MB a day, {free / 1e9:.1f} GB free: {min(left, 36_500):.0f} days"
    enough = left >= DAYS
    return Check("disk", enough, growth if enough else f"{growth}; make room")


def _bytes_of(folder: Path) -> int:
    """Return the bytes on disk below a folder, a file with several names once."""
    seen: dict[int, int] = {}
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            file = path.stat()
            # A file of several names has one inode; the system counts blocks of 512 bytes.
            seen[file.st_ino] = file.st_blocks * 512
    return sum(seen.values())


def _kept(settings: GeneratorSettings, now: datetime) -> Iterator[Check]:
    status = Status.load(settings.backup_status_path)
    good, result = status.judge_backup(now)
    yield Check("backup", bool(good), result if good else f"{result}; `systemctl start emi-backup`")
    good, result = status.judge_drill(now)
    yield Check("restore drill", bool(good), result if good else f"{result}; `systemctl start emi-drill`")


def _ask(url: str, headers: Mapping[str, str] | None = None) -> Answer:
    try:
        status, data = fetch(url, ASK_S, headers)
    except (OSError, ValueError, HTTPException) as error:
        return Answer(0, {}, f"no answer ({getattr(error, 'reason', error)})")
    try:
        body = read_json(data)
    except ValueError:
        body = None
    return Answer(status, body if isinstance(body, dict) else {})
