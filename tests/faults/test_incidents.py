"""What happens to a gateway's machine costs no payer anything and is named within a minute."""

import asyncio

import pytest

from tests.faults.incidents import INCIDENTS, Incident, Report, play_incidents


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    played = asyncio.run(play_incidents(tmp_path_factory.mktemp("incidents")))
    return {report.incident.name: report for report in played}


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
def test_an_incident_costs_no_payer_anything_and_is_named(reports: dict[str, Report], incident: Incident) -> None:
    report = reports[incident.name]

    assert report.as_foreseen, (report.paid, report.new, report.counts, report.names)
