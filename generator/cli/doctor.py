"""`emi doctor`: is the service alive and fresh?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gateway.wire.foreign import read_json
from gateway.wire.limits import UNANSWERED_S, UNKNOWN_S
from generator.catalog.endpoints import ENDPOINTS
from generator.catalog.products import PRODUCTS, Product
from generator.catalog.venues import OTHER_REGION
from generator.cli._urls import local_origin, origin_of, service_origin
from generator.client.published import fetch
from generator.errors import GeneratorError
from generator.operate.watch.check import Check
from generator.release.values import FIRST_GENERATION

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings
    from generator.settings import GeneratorSettings

# Metric, the largest value that needs no alarm, what more of it means.
ALARMS: Final = (
    ("emi_ledger_fault", 0, "fault of the payments ledger: it is gone, damaged or takes no payment"),
    ("emi_facilitator_failing_seconds", UNANSWERED_S, "seconds since the facilitator's verify or settle last worked"),
    ("emi_payments_unclosable", 0, "payments that no evidence can close any more; see emi payments"),
    ("emi_chain_failing_seconds", UNANSWERED_S, "seconds since algod or the indexer last answered"),
    ("emi_payments_unknown_oldest_seconds", UNKNOWN_S, "seconds without a known outcome for the oldest open payment"),
    ("emi_payments_delivered_unpaid_total", 0, "delivered on the facilitator's word and never on the chain"),
    ("emi_payments_refused_but_landed_total", 0, "refused, and found on the chain all the same"),
)
FAILURES: Final = ("emi_facilitator_failures_total", "emi_chain_failures_total", "emi_ledger_failures_total")
WAL_RESET_MENDED: Final = (3, 51, 3)
RESTORE: Final = "stop its program and restore the backup"


def doctor(
    url: Annotated[str | None, typer.Option(help="Origin to check. Default: the configured one.")] = None,
    state: Annotated[bool, typer.Option("--state", help="Check the databases of STATE_DIR instead.")] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Say what this version would do to the databases of STATE_DIR.")
    ] = False,
    *,
    live: Annotated[
        bool, typer.Option("--before-live", help="Check what has to be right before real money is taken.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of lines.")] = False,
) -> None:
    """Check an origin as a reader and a payer would; exit code 1 when anything is wrong.

    Of the configured origin, or one of this machine, the gateway is asked directly as well, and its metrics where
    EMI_METRICS_PORT is set.

    With --state no origin is asked: the files of the payments ledger and of the memory are read to their end, also
    while both programs run, and the result is left for `emi watch`. Daily is often enough.

    With --upgrade a copy of each database of STATE_DIR is upgraded: which steps, how long, how much disk. Run it with
    the new version before it takes over; the databases themselves stay as they are.

    With --before-live: payee, balances, clock, disk, facilitator and its list, origin, certificate, settings that still
    say example, backups. A line that is BAD names the step to take.

    The last line is the verdict, with what could not be checked from here.

    Example: emi doctor --url https://api.example.org
    """
    if sum((url is not None, state, upgrade, live)) > 1:
        raise typer.BadParameter("choose one of --url, --state, --upgrade and --before-live")
    if upgrade:
        from generator.cli._keeping import show_upgrade

        show_upgrade()
        return
    if live:
        checks = _examine_before_live()
    elif state:
        checks = examine_state()
    else:
        checks = _examine_origin(url)
    _report(checks, as_json=as_json)


def _examine_before_live() -> list[Check]:
    from generator.cli._before_live import before_live
    from generator.cli._settings import gateway_settings, generator_settings

    return list(before_live(generator_settings(), gateway_settings(), datetime.now(UTC)))


def _report(checks: Sequence[Check], *, as_json: bool) -> None:
    if as_json:
        rows = [asdict(check) for check in checks]
        print(json.dumps({"verdict": verdict(checks), "checks": rows}, ensure_ascii=False))
    else:
        for check in checks:
            print(f"{check.mark} {check.what}: {check.found}")
        print(verdict(checks))

    failed = any(check.good is False for check in checks)
    raise typer.Exit(1 if failed else 0)


def verdict(checks: Sequence[Check]) -> str:
    """Say in one line how many are well, and what could not be checked.

    >>> verdict([Check("a", True, ""), Check("b", None, "")])
    'All well: 1 checked. Not checked: b.'
    >>> verdict([Check("a", True, ""), Check("b", False, "")])
    'BAD: 1 of 2 checked, b.'
    """
    checked = [check for check in checks if check.good is not None]
    bad = [check.what for check in checked if not check.good]
    left = [check.what for check in checks if check.good is None]

    line = f"All well: {len(checked)} checked."
    if bad:
        line = f"BAD: {len(bad)} of {len(checked)} checked, {', '.join(dict.fromkeys(bad))}."
    return f"{line} Not checked: {', '.join(dict.fromkeys(left))}." if left else line


def _examine_origin(url: str | None) -> list[Check]:
    from urllib.parse import urlsplit

    from gateway.wire.loopback import is_loopback
    from generator.cli._settings import gateway_settings, generator_settings

    settings = generator_settings()
    gateway = gateway_settings()
    configured = service_origin(settings)
    origin = origin_of(url) if url else configured

    if origin != configured and not is_loopback(urlsplit(origin).hostname or ""):
        return examine(origin)
    kept = [*check_backups(settings.backup_status_path, datetime.now(UTC)), *check_inbox(settings.inbox_path)]
    if any(is_sqlite(where) for where in (settings.memory, gateway.ledger_where)):
        kept += check_sqlite()

    kept += check_outgoing()
    kept += check_resolver()
    return [*examine_configured(settings, gateway, origin), *kept]


def examine_configured(settings: GeneratorSettings, gateway: GatewaySettings, origin: str | None = None) -> list[Check]:
    """Examine the configured origin, or one of this machine, with the gateway itself and its metrics."""
    configured = service_origin(settings)

    # A running `emi up` is its own gateway, whatever else listens on the configured port.
    gateways = [local_origin(gateway.host, gateway.port)] if configured == settings.origin else []
    metrics = f"http://127.0.0.1:{gateway.metrics_port}/metrics" if gateway.metrics_port else None
    return examine(origin or configured, gateways, metrics)


def check_backups(status_file: Path, now: datetime) -> list[Check]:
    """Judge what the last backup and the last restore drill came to."""
    from generator.operate.keep.status import Status

    status = Status.load(status_file)
    return [Check("backup", *status.judge_backup(now)), Check("restore drill", *status.judge_drill(now))]


def check_inbox(inbox: Path) -> list[Check]:
    """Name the ballots that were quarantined, for people to look at; nothing where there are none."""
    from gateway.wire.inbox import REJECTED

    folder = inbox / REJECTED
    try:
        quarantined = sorted(ascii(path.name)[1:-1] for path in folder.iterdir())
    except FileNotFoundError:
        return []
    except OSError as error:
        return [Check("inbox", None, f"{folder} cannot be read: {error.strerror}")]
    if not quarantined:
        return []
    named = ", ".join(quarantined[:3]) + (" ..." if len(quarantined) > 3 else "")
    return [
        Check("inbox", False, f"{len(quarantined)} quarantined in {folder}, for two ticks failed with them: {named}")
    ]


def check_resolver(root: Path = Path("/")) -> list[Check]:
    """Name a resolver that the units of this machine may not reach; nothing where there is no such one, or no unit."""
    from generator.operate.setup.machine import Machine
    from generator.operate.setup.resolvers import advice

    machine = Machine(root)
    if not machine.at("/etc/systemd/system/emi-schedule.service").exists():
        return []
    step = advice(machine)
    return [] if step is None else [Check("resolver", None, step)]


def check_outgoing() -> list[Check]:
    """Say which proxy and certificates the environment names for what is asked of others; nothing where none."""
    from gateway.wire.outgoing import described

    way = described()
    return [] if way is None else [Check("way out", None, f"{way}; the programs use what their own environment names")]


def is_sqlite(where: str | Path) -> bool:
    """Return whether a database lies in a file."""
    from gateway.ledger.engine import SQLITE

    return isinstance(where, Path) or where.startswith(SQLITE)


def check_sqlite(version: str = sqlite3.sqlite_version) -> list[Check]:
    """Note an SQLite that may damage a file, which nothing here can see before it happened; none for a newer one.

    >>> check_sqlite("3.51.3")
    []
    """
    if tuple(map(int, version.split("."))) >= WAL_RESET_MENDED:
        return []
    mended = ".".join(map(str, WAL_RESET_MENDED))
    advice = (
        f"before {mended}, unless your system mended it, two processes that write to a database in the same instant "
        "may in very rare cases damage it (its WAL-reset fault); each backup and emi doctor --state would notice"
    )
    return [Check(f"SQLite {version}", None, advice)]


def examine_state() -> list[Check]:
    """Read the databases of STATE_DIR to their end; GeneratorError where there is none."""
    from gateway.ledger.damage import check_file
    from gateway.ledger.engine import sqlite_path
    from generator.cli._settings import gateway_settings, generator_settings

    settings = gateway_settings()
    databases = {"payments ledger": settings.ledger_where, "memory": generator_settings().memory}
    checks: list[Check] = []
    for name, where in databases.items():
        if not is_sqlite(where):
            checks.append(Check(name, None, "not a file; PostgreSQL checks its own, see pg_amcheck"))
            continue

        path = sqlite_path(where)
        if not path.is_file():
            continue

        damage = check_file(path)
        _note_reading(name, damage)
        if damage is None:
            checks.append(Check(f"{name} {path}", True, "whole"))
        else:
            checks.append(Check(f"{name} {path}", False, f"{damage}; {RESTORE}"))

    if not checks:
        raise GeneratorError(f"there is neither a payments ledger nor a memory in {settings.state_dir}")
    return checks


def _note_reading(database: str, damage: str | None) -> None:
    """Leave the result for `emi watch`, which may not see the database."""
    from generator.cli._looking import READ_TO_THE_END
    from generator.cli._settings import generator_settings
    from generator.operate.keep.status import note_reading

    file = generator_settings().backup_status_path.with_name(READ_TO_THE_END[database])
    try:
        note_reading(file, datetime.now(UTC), damage)
    except OSError as error:
        raise GeneratorError(f"{file}, which `emi watch` reads, cannot be written: {error.strerror}") from error


def examine(origin: str, gateways: Sequence[str] = (), metrics: str | None = None) -> list[Check]:
    """Check freshness, the free paths, the discovery files, the challenges and whether a sale is possible.

    An origin that does not answer at all is not checked further.

    Args:
        origin: what readers and payers use.
        gateways: origins of gateways themselves, for an edge that does not route /readyz.
        metrics: URL of the gateway's metrics, if they are known here.
    """
    status, body = _get(f"{origin}/status.json")
    if isinstance(status, str):
        return [Check(origin, False, f"{status}; is it running?")]

    checks = [_fresh(status, body), *_other_regions(body)]

    for endpoint in ENDPOINTS:
        status, body = _get(origin + endpoint.path)
        good = status == HTTPStatus.OK and isinstance(body, dict) and body.get("success") is True
        checks.append(Check(endpoint.path, good, f"{status}"))

    for path in ("/openapi.json", "/openapi.yaml", "/llms.txt", "/robots.txt", "/sitemap.xml"):
        status, _ = _get(origin + path)
        checks.append(Check(path, status == HTTPStatus.OK, f"{status}"))

    checks += [_challenge(origin, product) for product in PRODUCTS]
    checks += _ready([origin, *gateways])
    if metrics:
        checks += _measured(metrics)
    return checks


def _challenge(origin: str, product: Product) -> Check:
    """Ask for a product without paying: 402, with two options at the price of the catalog."""
    status, body = _get(origin + product.path)
    options = body.get("accepts", []) if isinstance(body, dict) else []
    amounts = [option.get("amount") for option in options]

    if status == HTTPStatus.PAYMENT_REQUIRED and amounts == [str(product.price_atomic)] * 2:
        return Check(product.path, True, f"{status}, {product.price_display}")
    if status == HTTPStatus.SERVICE_UNAVAILABLE and isinstance(body, dict):
        return Check(product.path, False, f"{status}, {body.get('detail')}")
    if amounts:
        return Check(product.path, False, f"{status}, asks {' or '.join(map(str, amounts))} atomic units")
    return Check(product.path, False, f"{status}")


def _ready(origins: Sequence[str]) -> list[Check]:
    """Return what the first gateway that can be reached says of a sale."""
    for origin in origins:
        status, body = _get(f"{origin}/readyz")
        if not isinstance(body, dict):
            continue
        if status == HTTPStatus.OK and body.get("status") == "ready":
            return [Check("/readyz", True, "a sale is possible")]
        reasons = body.get("reasons")
        if status == HTTPStatus.SERVICE_UNAVAILABLE and isinstance(reasons, list):
            return [Check("/readyz", False, str(reason)) for reason in reasons]

    return [Check("/readyz", None, "not reachable from here; run this where the gateway runs")]


def _measured(url: str) -> Iterator[Check]:
    """Yield an alarm for each metric that is past its limit, and what failed since the gateway's start."""
    from prometheus_client.parser import text_string_to_metric_families

    try:
        families = list(text_string_to_metric_families(fetch(url)[1].decode()))
    except (OSError, ValueError, HTTPException) as error:
        yield Check("metrics", None, f"not readable: {getattr(error, 'reason', error)}")
        return

    samples = [sample for family in families for sample in family.samples]
    values = {_written(sample.name, sample.labels): sample.value for sample in samples}
    for name, most, meaning in ALARMS:
        if values.get(name, 0) > most:
            yield Check(name, False, f"{values[name]:.0f} {meaning}")
    failed = [f"{name} {value:.0f}" for name, value in values.items() if name.startswith(FAILURES) and value]
    yield Check("metrics", True, f"calls that failed since the gateway's start: {', '.join(failed) or 'none'}")


def _written(name: str, labels: Mapping[str, str]) -> str:
    """Return a metric as the page of metrics writes it: `name{label="value"}`."""
    inside = ",".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{inside}}}" if inside else name


def _other_regions(body: Any) -> list[Check]:
    """Note each venue that refuses to serve the region of the generator; it will not change by waiting."""
    rows = body.get("sources") if isinstance(body, dict) else None
    reasons: dict[str, str] = {}
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and OTHER_REGION in str(row.get("reason")):
            reasons[str(row.get("name"))] = str(row["reason"]).removeprefix("markets: ")
    step = "the service runs without it; leave it out of EMI_VENUES, or ask from elsewhere"
    return [Check(f"venue {name}", None, f"{reason}; {step}") for name, reason in sorted(reasons.items())]


def _fresh(status: int, body: Any) -> Check:
    if status != HTTPStatus.OK or not isinstance(body, dict):
        return Check("/status.json", False, f"{status}")
    try:
        until = datetime.fromisoformat(body["valid_until"])
    except (KeyError, ValueError, TypeError):
        return Check("/status.json", False, "no valid_until")
    if body.get("generation") == FIRST_GENERATION:
        return Check("freshness", False, "the bootstrap release: the generator has made no tick yet")

    late_s = (datetime.now(UTC) - until).total_seconds()
    state = f"{body.get('source_mode')}, {body.get('status')}, tick {body.get('tick_id')}"
    if late_s > 0:
        return Check("freshness", False, f"STALE for {late_s:.0f} s; {state}")
    return Check("freshness", True, state)


def _get(url: str) -> tuple[int | str, Any]:
    """Return the status (or why there is none) and the JSON body if it is one."""
    try:
        status, data = fetch(url)
    except (OSError, ValueError, HTTPException) as error:
        return f"no answer ({getattr(error, 'reason', error)})", None
    try:
        return status, read_json(data)
    except ValueError:
        return status, None
