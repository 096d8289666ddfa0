"""What an operator does after a restore, and what the readers of the log will see."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from generator.cli._keeping import LOG_KEY

if TYPE_CHECKING:
    from generator.operate.keep.manifest import Manifest
    from generator.operate.keep.places import Places


def next_steps(manifest: Manifest, places: Places) -> str:
    """Say what the operator does now, and what others will see."""
    from generator.operate.keep.places import LEDGER

    steps = [f"restored {manifest.name}, cut {manifest.cut}. Next:"]
    log_key = places.keys[LOG_KEY]
    if manifest.log_size and not log_key.exists():
        steps.append(f"- put the log's key back at {log_key}: without it the generator does not start")
    steps.append("- start the generator, wait for its first release, then start the gateway")

    if manifest.part(LEDGER) is not None:
        since = _newest_round(places)
        steps.append(f"- what was paid after the cut: emi adopt --since {since} --dry-run, as the gateway's user")
    steps.append(f"- {_log_notice(manifest, places)}")
    return "\n".join(steps)


def _newest_round(places: Places) -> int:
    from gateway.errors import LedgerUnreadable
    from gateway.ledger.view import LedgerView

    with suppress(LedgerUnreadable), LedgerView(places.ledger.where) as view:
        return view.newest_round()
    return 0


def _log_notice(manifest: Manifest, places: Places) -> str:
    """Say what the readers of the log will see."""
    seen = "to whoever verified more of it `emi verify` reports removed entries: announce why"
    published = _published_size(places)

    # Less than what is published would look like a rewritten log: the generator adds nothing rather than fork it.
    if published is None:
        return f"the log has {manifest.log_size} entries; {seen}"
    if published <= manifest.log_size:
        return f"the log has {manifest.log_size} entries and continues the {published} that are published"
    return (
        f"the log has {manifest.log_size} entries, the site here shows {published}: the generator adds nothing to it. "
        f"Restore a newer backup, or move the site away; then {seen}"
    )


def _published_size(places: Places) -> int | None:
    """Return how many entries of the log readers see here, None where nothing is published here."""
    from generator.record.published import CHECKPOINT, head_of

    if places.site is None:
        return None
    with suppress(OSError, ValueError):
        return head_of((places.site / "current" / CHECKPOINT.lstrip("/")).read_bytes()).size
    return None
