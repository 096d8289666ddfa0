"""The lease of one machine, a lock file, and which lease the settings choose."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.errors import LeaseUnreachable
from generator.lock import FileLease
from generator.runtime.leadership import open_lease
from generator.settings import GeneratorSettings
from tests.support.leases import Make, epochs_only_rise, one_at_a_time, one_of_many_wins


@pytest.mark.parametrize("rule", [one_at_a_time, epochs_only_rise, one_of_many_wins])
def test_the_lock_file_is_a_lease(tmp_path: Path, rule: Callable[[Make], None]) -> None:
    rule(lambda: FileLease(tmp_path))


def test_the_holder_of_the_lock_file_is_named_by_its_process_id(tmp_path: Path) -> None:
    one, two = FileLease(tmp_path), FileLease(tmp_path)
    one.acquire(0)

    assert two.acquire(0) is None
    assert two.holder() == f"process {os.getpid()} on this machine"
    one.release()


@pytest.mark.parametrize("content", ["", "twelve", "1\x00\x00", "-5"])
def test_the_floor_replaces_a_torn_epoch_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "generator.epoch").write_text(content)

    grant = FileLease(tmp_path).acquire(9)

    assert grant is not None
    assert grant.epoch == 10


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("not a folder")

    with pytest.raises(LeaseUnreachable, match="state"):
        FileLease(tmp_path / "state").acquire(0)


def test_without_a_setting_the_lease_is_a_lock_file(tmp_path: Path) -> None:
    assert isinstance(open_lease(GeneratorSettings(state_dir=tmp_path)), FileLease)


def test_a_lease_for_several_machines_needs_a_memory_that_they_share(tmp_path: Path) -> None:
    settings = GeneratorSettings(state_dir=tmp_path, lease_url="postgresql+psycopg://emi@db/emi")

    assert "MEMORY_URL" in (settings.complaint() or "")


@pytest.mark.parametrize("url", ["redis://here", "postgres://x", "file:///tmp/x", ""])
def test_another_kind_of_lease_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="lease_url"):
        GeneratorSettings(state_dir=tmp_path, lease_url=url)


def test_a_lease_in_an_object_store_is_refused_and_the_error_names_the_replacement() -> None:
    with pytest.raises(ValueError, match=r"must be postgresql\+psycopg://…, as MEMORY_URL"):
        GeneratorSettings(lease_url="s3://bucket/lease")
