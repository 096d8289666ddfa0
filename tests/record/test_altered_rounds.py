"""`emi verify` names the field of a published round that was altered, and what the log says of it."""

import ast
import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from generator.catalog.formats import iso
from generator.record.audit.audit import Audit
from generator.record.audit.rounds import rows_complaint
from tests.arena.test_published import a_row
from tests.record.test_log import entries
from tests.support.arena_inputs import HOUR, NOON, hours
from tests.support.log_records import Record, run_verify

Steps = tuple[str | int, ...]


def leaves(value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """Yield every field of a row with its value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*steps, key))
    else:
        yield steps, value


FIELDS: Final = [*(steps for steps, _ in leaves(a_row(NOON))), ("log_entries",)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Record(tmp_path_factory.mktemp("played"))
    made.play(hours(NOON, 4))
    made.publish()
    made.memory.close()
    return made.site


@pytest.fixture
def site(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "site"))


def rows_of(site: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((site / "arena" / "rounds.json").read_bytes())["rounds"]
    return rows


def put(site: Path, rows: list[dict[str, Any]]) -> None:
    (site / "arena" / "rounds.json").write_text(json.dumps({"rounds": rows}))


def altered(value: Any) -> Any:
    """Return another value of the same kind, as someone would write who wants it to look well."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [number + 1 for number in value]
    words = {"BULLISH": "BEARISH", "BEARISH": "NEUTRAL", "NEUTRAL": "BULLISH", None: "something"}
    return words.get(value) or re.sub(r"\d(?=\D*$)", lambda last: str((int(last[0]) + 1) % 10), f"{value} 0")


def alter(row: dict[str, Any], steps: Steps) -> tuple[Any, Any]:
    inner: Any = row
    for step in steps[:-1]:
        inner = inner[step]
    before = inner[steps[-1]]
    inner[steps[-1]] = altered(before)
    return before, inner[steps[-1]]


def test_the_fields_below_are_all_that_a_published_round_has(site: Path) -> None:
    assert {steps for steps, _ in leaves(rows_of(site)[1])} == set(FIELDS)


NAMED: Final = [steps for steps in FIELDS if steps != ("round_id",)]


@pytest.mark.parametrize("steps", NAMED, ids=lambda steps: ".".join(map(str, steps)))
def test_any_one_field_that_was_altered_is_named_with_both_values(site: Path, steps: Steps) -> None:
    rows = rows_of(site)
    name = rows[1]["round_id"]
    before, after = alter(rows[1], steps)
    put(site, rows)
    result = run_verify(site)

    assert result.exit_code == 1
    field = ".".join(map(str, steps))
    complaint, _, logged = result.output.splitlines()[-1].rpartition(", the log says ")
    assert complaint == f"emi: round {name}: {field} is published as {after!r}"
    assert ast.literal_eval(logged) == before


@pytest.mark.parametrize("field", [steps[0] for steps in NAMED if len(steps) == 1])
def test_a_removed_field_is_named(site: Path, field: str) -> None:
    rows = rows_of(site)
    del rows[1][field]
    put(site, rows)
    result = run_verify(site)

    assert result.exit_code == 1
    assert f"{field} is not published, the log says" in result.output


def test_a_renamed_round_is_named_as_not_in_the_log(site: Path) -> None:
    rows = rows_of(site)
    _, name = alter(rows[1], ("round_id",))
    put(site, rows)

    assert f"emi: round {name} is published and not in the log" in run_verify(site).output


def test_several_altered_fields_are_named_together_and_counted(site: Path) -> None:
    rows = rows_of(site)
    for steps in (("start_price",), ("end_price",), ("change_bps",), ("votes", "bullish"), ("forecast", "prediction")):
        alter(rows[1], steps)
    put(site, rows)
    output = run_verify(site).output

    assert "forecast.prediction is published as" in output
    assert "start_price is published as" in output
    assert "; and 2 fields more" in output


def test_a_void_round_holds_and_any_one_field_of_it_that_was_altered_is_named(tmp_path: Path) -> None:
    record = Record(tmp_path)
    record.play([*hours(NOON, 2), *hours(NOON + 6 * HOUR, 2)])
    record.publish()
    audit = Audit()
    for data in entries(record):
        audit.take(data)
    rows = json.loads(json.dumps(record.memory.resolved_rounds(500)))
    record.memory.close()
    place = next(place for place, row in enumerate(rows) if row["phase"] == "void" and row["forecast"])

    assert rows_complaint(rows, audit.rounds, audit.first_at) is None
    for steps, _ in leaves({**rows[place], "round_id": {}}):
        wrong = copy.deepcopy(rows)
        _, after = alter(wrong[place], steps)
        beginning = f"round {rows[place]['round_id']}: {'.'.join(map(str, steps))} is published as {after!r}"
        assert (rows_complaint(wrong, audit.rounds, audit.first_at) or "").startswith(beginning)


def of_open_round(site: Path, **fields: Any) -> dict[str, Any]:
    """Write an end for the round that is under way."""
    newest = rows_of(site)[0]
    hour = int(newest["start"][11:13]) + 1
    start, end = (f"{newest['start'][:11]}{at:02d}:00:00Z" for at in (hour, hour + 1))
    name = f"{newest['round_id'][:-6]}{hour:02d}0000"
    asset = {"BTC": "ETH", "ETH": "BTC"}[newest["asset"]]
    name = name.replace(newest["asset"], asset)
    forecast = {**newest["forecast"], "round_id": name, "asset": asset, "start": start, "end": end}
    return {**newest, "round_id": name, "asset": asset, "start": start, "end": end, "forecast": forecast, **fields}


def test_a_round_that_is_only_sealed_in_the_log_and_published_as_ended_is_named(site: Path) -> None:
    invented = of_open_round(site)
    put(site, [invented, *rows_of(site)])
    assert f"round {invented['round_id']}: it is published as 'resolved' and has not ended" in run_verify(site).output


def test_a_round_from_before_the_log_is_taken_as_it_adds_up_and_said_to_be_unproved(site: Path) -> None:
    older = {**a_row(NOON - 5 * HOUR), "log_entries": []}
    put(site, [*rows_of(site), older])
    result = run_verify(site)

    assert (result.exit_code, older["warm_up"]) == (0, False)
    assert "1 more (older than the log) are not in the log" in " ".join(result.output.split())


def test_what_is_said_to_be_proved_is_only_of_the_rounds_in_the_log(site: Path) -> None:
    backtested = {**a_row(NOON - 3 * 3_600_000), "warm_up": True, "log_entries": []}
    put(site, [*rows_of(site), backtested])
    words = " ".join(run_verify(site).output.split())

    assert f"the next visit will prove that none of it was changed from {iso(NOON)}" in words
    assert (
        "the ranges are published as they were logged before their hour; of the published rounds 3 are in the log as "
        "they are published, none left out since the oldest; no round in the log has real votes to count again; 1 more "
        "(warm_up, backtested before the start) are not in the log: nothing is proved about them but that each adds "
        "up. It does not prove: when an entry was written"
    ) in words
    assert "that no ballot was left out, or any skill. entries: " in words
