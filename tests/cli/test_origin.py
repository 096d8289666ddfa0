"""Which service a command asks, and how it says that none answers."""

import os
from pathlib import Path

import pytest

from generator.cli._urls import service_origin
from generator.lock import StateLock, note_of
from generator.settings import GeneratorSettings
from tests.support.ports import free_port
from tests.support.processes import emi_here

RUNNING = "http://127.0.0.1:21700"


def settings_of(state: Path, base_url: str | None = None) -> GeneratorSettings:
    return GeneratorSettings(state_dir=state, base_url=base_url)


def test_commands_find_the_port_of_the_service_that_runs_on_their_state(tmp_path: Path) -> None:
    with StateLock(tmp_path, "up", note=RUNNING):
        assert service_origin(settings_of(tmp_path)) == RUNNING

    assert service_origin(settings_of(tmp_path)) == "http://127.0.0.1:8402"


def test_a_service_of_another_state_is_not_asked(tmp_path: Path) -> None:
    with StateLock(tmp_path / "one", "up", note=RUNNING):
        assert service_origin(settings_of(tmp_path / "other")) == "http://127.0.0.1:8402"


def test_what_a_killed_service_left_behind_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "up.lock").write_text(f"{os.getpid()}\n{RUNNING}\n")

    assert note_of(tmp_path, "up") is None
    assert service_origin(settings_of(tmp_path)) == "http://127.0.0.1:8402"


def test_a_configured_origin_comes_before_the_running_one(tmp_path: Path) -> None:
    with StateLock(tmp_path, "up", note=RUNNING):
        assert service_origin(settings_of(tmp_path, base_url="http://localhost:9000")) == "http://localhost:9000"


@pytest.mark.parametrize("command", [["doctor"], ["vote", "up"], ["verify"]])
def test_a_url_without_its_scheme_is_refused_by_name(tmp_path: Path, command: list[str]) -> None:
    done = emi_here(*command, "--url", "127.0.0.1:8402", cwd=tmp_path)

    assert done.returncode == 2
    assert "must begin with http:// or https://" in " ".join(done.stderr.replace("│", " ").split())


def test_a_vote_at_an_origin_that_is_gone_says_what_to_start(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"

    done = emi_here("vote", "up", "--url", url, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr.strip() == f"emi: {url} cannot be reached (connection refused); is `emi up` running?"


def test_the_doctor_asks_the_service_that_runs_on_the_state(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}"

    with StateLock(tmp_path / "emi-state", "up", note=url):
        done = emi_here("doctor", cwd=tmp_path)

    assert done.stdout.startswith(f"BAD  {url}: no answer")


def test_a_version_names_the_program_and_the_api(tmp_path: Path) -> None:
    done = emi_here("--version", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.startswith("emi ")
    assert ", API 1." in done.stdout


@pytest.mark.parametrize("given", ["up", "UP", "Down", "small", "flat", "BEARISH"])
def test_the_words_of_people_are_a_vote(tmp_path: Path, given: str) -> None:
    done = emi_here("vote", given, cwd=tmp_path)

    assert "there is" not in done.stderr
    assert "allowed:" not in done.stderr
