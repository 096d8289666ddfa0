"""The alerts for Prometheus, read and played by its own promtool; and the metrics, by its linter."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from prometheus_client import generate_latest
from ruamel.yaml import YAML

from gateway.http.metrics import Metrics
from generator.runtime.metrics import GeneratorMetrics
from tests.support.processes import REPOSITORY

ALERTS: Final = REPOSITORY / "site" / "edge" / "prometheus" / "alerts.yml"
RUNBOOK: Final = REPOSITORY / "docs" / "howto" / "runbook.md"
PROMTOOL: Final = shutil.which("promtool")
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed (Debian package prometheus)"),
]

# Alert, the series that fires it, one sample a minute for ten minutes. `a+bxn` begins with a and adds b n times.
FIRES: Final = (
    ("EmiDown", 'up{job="emi-gateway"}', "0x10"),
    ("EmiEdgeDead", 'probe_success{job="emi-edge"}', "0x10"),
    ("EmiTickMissing", "emi_tick_published_timestamp_seconds", "0x10"),
    ("EmiTickHung", "emi_tick_running_seconds", "0+60x10"),
    ("EmiTicksFailing", 'emi_ticks_total{outcome="failed"}', "0+1x10"),
    ("EmiFilesNotMade", 'emi_publish_failures_total{kind="page"}', "0+1x10"),
    ("EmiMemoryGone", 'emi_generator_fault{fault="memory"}', "1x10"),
    ("EmiRecordStopped", 'emi_generator_fault{fault="record"}', "1x10"),
    ("EmiLogKeyGone", 'emi_generator_fault{fault="log-key"}', "1x10"),
    ("EmiStoreRefuses", 'emi_generator_fault{fault="store"}', "1x10"),
    ("EmiWitnessSilent", 'emi_generator_fault{fault="witness"}', "1x10"),
    ("EmiClockStepped", 'emi_clock_jumps_total{direction="back"}', "0x5 1x5"),
    ("EmiNotReady", "emi_ready", "0x10"),
    ("EmiNotQuoting", "emi_quoting", "0x10"),
    ("EmiLedgerFault", "emi_ledger_fault", "1x10"),
    ("EmiLedgerTakesNoWrite", "emi_ledger_write_age_seconds", "0+60x10"),
    ("EmiFacilitatorDead", "emi_facilitator_supported_age_seconds", "0+60x10"),
    ("EmiFacilitatorDead", "emi_facilitator_failing_seconds", "0+60x10"),
    ("EmiNodeDead", "emi_chain_failing_seconds", "0+60x10"),
    ("EmiVaultStale", "emi_vault_age_seconds", "0+60x10"),
    ("EmiVaultStale", "emi_vault_age_seconds", "-90x10"),
    ("EmiBackupOld", "emi_backup_success_timestamp_seconds", "-99999x10"),
    ("EmiRestoreDrillFailed", "emi_restore_drill_failed", "1x10"),
    ("EmiPaymentsUnclosable", "emi_payments_unclosable", "2x10"),
    ("EmiPaymentUnknown", "emi_payments_unknown_oldest_seconds", "3600+60x10"),
    ("EmiDeliveredUnpaid", "emi_payments_delivered_unpaid_total", "0x5 1x5"),
    ("EmiRefusedButLanded", "emi_payments_refused_but_landed_total", "0x5 1x5"),
)
WELL: Final = (
    ('up{job="emi-gateway"}', "1x10"),
    ("emi_tick_published_timestamp_seconds", "0+60x10"),
    ('emi_ticks_total{outcome="failed"}', "0x10"),
    ('probe_success{job="emi-edge"}', "1x10"),
    ('emi_generator_fault{fault="memory"}', "0x10"),
    ("emi_ready", "1x10"),
    ("emi_quoting", "1x10"),
    ("emi_ledger_fault", "0x10"),
    ("emi_facilitator_supported_age_seconds", "20x10"),
    ("emi_vault_age_seconds", "59x10"),
    ('emi_backup_success_timestamp_seconds{job="emi-schedule"}', "0x10"),
    ('process_start_time_seconds{job="emi-schedule"}', "0x10"),
    ('process_open_fds{job="emi-gateway"}', "50x10"),
    ('process_max_fds{job="emi-gateway"}', "65536x10"),
)


def promtool(*arguments: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    assert PROMTOOL is not None
    return subprocess.run([PROMTOOL, *arguments], input=given, capture_output=True, timeout=60, check=False)


def rules() -> list[dict[str, Any]]:
    content = YAML(typ="safe").load(ALERTS)
    return [rule for group in content["groups"] for rule in group["rules"]]


def played(folder: Path, series: list[tuple[str, str]], firing: set[str]) -> str:
    """Play series; return what promtool says of alerts at the tenth minute that are not as they should be."""
    inputs = [{"series": name, "values": values} for name, values in series]
    wanted = [
        {"expr": f'count(ALERTS{{alertname="{rule["alert"]}",alertstate="firing"}})', "eval_time": "10m"}
        | {"exp_samples": [{"labels": "{}", "value": 1}] if rule["alert"] in firing else []}
        for rule in rules()
    ]
    test = {"interval": "1m", "input_series": inputs, "promql_expr_test": wanted}
    file = folder / "test.yml"
    with file.open("w") as out:
        YAML().dump({"rule_files": [str(ALERTS)], "evaluation_interval": "15s", "tests": [test]}, out)
    done = promtool("test", "rules", str(file))
    return "" if done.returncode == 0 else (done.stdout + done.stderr).decode()


def test_prometheus_takes_the_alerts() -> None:
    done = promtool("check", "rules", str(ALERTS))

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("alert", "series", "values"), FIRES)
def test_an_alert_fires_for_its_fault_and_no_other_does(alert: str, series: str, values: str, tmp_path: Path) -> None:
    assert played(tmp_path, [(series, values)], {alert}) == ""


def test_a_day_without_a_first_backup_fires(tmp_path: Path) -> None:
    never = ('emi_backup_success_timestamp_seconds{job="emi-schedule"}', "0x10")
    started = ('process_start_time_seconds{job="emi-schedule"}', "-99999x10")

    assert played(tmp_path, [never, started], {"EmiBackupNever"}) == ""


def test_no_alert_fires_while_all_is_well(tmp_path: Path) -> None:
    assert played(tmp_path, list(WELL), set()) == ""


def test_each_alert_reads_a_metric_that_there_is_and_names_a_row_of_the_runbook() -> None:
    texts = [generate_latest(one.registry).decode() for one in (Metrics(), GeneratorMetrics())]
    known = {*re.findall(r"^# TYPE (\w+)", "\n".join(texts), re.MULTILINE), "up", "process_open_fds", "process_max_fds"}
    known.add("process_start_time_seconds")
    labelled = {"emi_publish_failures_total"}  # has no line before the first failure

    for rule in rules():
        read = set(re.findall(r"\b(?:emi|process)_\w+|\bup\b", rule["expr"].replace("emi-", "")))
        assert read <= known | labelled, rule["alert"]
        assert f'<a id="{rule["annotations"]["runbook"]}"></a>' in RUNBOOK.read_text()
    assert {rule["alert"] for rule in rules()} == {alert for alert, *_ in FIRES} | {"EmiFilesUsedUp", "EmiBackupNever"}


@pytest.mark.parametrize("metrics", [Metrics(), GeneratorMetrics()], ids=["gateway", "generator"])
def test_the_metrics_follow_the_conventions_of_prometheus(metrics: Metrics | GeneratorMetrics) -> None:
    done = promtool("check", "metrics", given=generate_latest(metrics.registry))

    assert (done.returncode, done.stderr.decode()) == (0, "")
