"""One table of limits: alerts.yml, the doctor and the watch begin to call something a fault at the same value."""

import re
from typing import Final

import pytest

from gateway.wire import limits
from generator.cli.doctor import ALARMS
from generator.operate.keep.status import OLDEST_BACKUP, OLDEST_DRILL
from generator.operate.watch.health import Health
from generator.operate.watch.judge import OF_THE_GENERATOR, Anchors, judge
from generator.operate.watch.seen import Seen
from generator.runtime.metrics import GeneratorMetrics
from tests.support.processes import REPOSITORY

RULES: Final = (REPOSITORY / "site/edge/prometheus/alerts.yml").read_text()
EXPRESSIONS: Final = dict(re.findall(r"- alert: (\w+)\n +expr: (.*)$", RULES, re.MULTILINE))


@pytest.mark.parametrize(
    ("alert", "bounds"),
    [
        ("EmiTickMissing", [limits.TICK_AGE_S]),
        ("EmiLedgerTakesNoWrite", [limits.UNANSWERED_S]),
        ("EmiFacilitatorDead", [limits.UNANSWERED_S, limits.UNANSWERED_S]),
        ("EmiNodeDead", [limits.UNANSWERED_S]),
        ("EmiVaultStale", [limits.VAULT_AGE_S, -limits.AHEAD_S]),
        ("EmiBackupOld", [limits.BACKUP_AGE_S]),
        ("EmiBackupNever", [limits.BACKUP_AGE_S]),
        ("EmiPaymentUnknown", [limits.UNKNOWN_S]),
    ],
)
def test_a_rule_of_prometheus_has_the_limit_of_the_watch(alert: str, bounds: list[float]) -> None:
    found = [
        float(first) * float(second or 1)
        for first, second in re.findall(r"[<>] (-?\d+)(?: \* (\d+))?", EXPRESSIONS[alert])
    ]

    assert found == bounds


def test_the_doctor_has_the_limits_of_the_watch() -> None:
    most = {name: limit for name, limit, _ in ALARMS}

    assert most["emi_facilitator_failing_seconds"] == most["emi_chain_failing_seconds"] == limits.UNANSWERED_S
    assert most["emi_payments_unknown_oldest_seconds"] == limits.UNKNOWN_S
    assert (OLDEST_BACKUP.total_seconds(), OLDEST_DRILL.total_seconds()) == (limits.BACKUP_AGE_S, limits.DRILL_AGE_S)


def test_every_rule_names_its_row_of_the_runbook_and_a_program_that_is_down_its_own() -> None:
    anchors = set(re.findall(r'<a id="([\w-]+)"></a>', (REPOSITORY / "docs/howto/runbook.md").read_text()))
    named = dict(re.findall(r'- alert: (\w+)\n(?:.*\n)*?.*runbook: "([\w-]+)"', RULES))

    assert {alert: row for alert, row in named.items() if row not in anchors} == {}
    assert len(named) == len(EXPRESSIONS)
    assert named["EmiDown"] == "down"


def test_the_metrics_show_each_fault_of_which_the_generator_is_the_witness() -> None:
    metrics = GeneratorMetrics()
    at = 10 * limits.WITNESS_S
    health = Health(at=at, memory="it was removed", store_refusals=1, witnesses={"w": at - limits.WITNESS_S - 1})

    metrics.watch_faults(lambda: health)

    shown = {
        name: metrics.registry.get_sample_value("emi_generator_fault", {"fault": name}) for name in OF_THE_GENERATOR
    }
    assert shown == {"memory": 1, "record": 0, "log-key": 0, "store": 0, "witness": 1}


def test_the_metrics_have_every_fault_that_the_generators_own_word_decides() -> None:
    looks = [Seen(0.0, 0.0, ""), Seen(0.0, 0.0, "", generator=Health())]

    without, with_it = ({name for name, found in judge(look, Anchors()).items() if found is not None} for look in looks)

    assert with_it - without == set(OF_THE_GENERATOR)
