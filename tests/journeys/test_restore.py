"""A machine is lost: what the backup brings back continues the log that readers saw, and delivers all that was paid."""

import asyncio
import base64
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from generator.operate.keep.keys import make_identity
from generator.record.verify import SeenFile
from tests.journeys.test_upgrade import AFTER, log_size, settings_of, tick_in, verify
from tests.support.clock import ManualClock
from tests.support.gateway_app import gateway_app
from tests.support.processes import emi_here
from tests.support.states.packed import unpacked

VERSION = "78f9e24c"


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state that readers verified and that is backed up with its keys."""
    state = unpacked(VERSION, tmp_path_factory.mktemp("lost") / VERSION)
    assert verify(state).returncode == 0
    recipient = make_identity(state.parent / "identity")
    made = emi_here("backup", "kept", "--keys", recipient, cwd=state.parent, EMI_STATE_DIR="state")
    assert made.returncode == 0, made.stderr
    (state.parent / "signer").write_text(made.stdout.split("signed by ")[1].strip())
    return state


@pytest.fixture(scope="module")
def restored(lost: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state that the backup brings back on another machine, after its first tick."""
    folder = tmp_path_factory.mktemp("restored") / VERSION
    folder.mkdir()
    for name in ("kept", "identity"):
        (folder / name).symlink_to(lost.parent / name)
    signer = (lost.parent / "signer").read_text()
    put_back = emi_here(
        "restore", "kept", "--identity", "identity", "--signer", signer, cwd=folder, EMI_STATE_DIR="state"
    )
    assert put_back.returncode == 0, put_back.stderr
    remember_the_visit(lost, folder / "state")
    asyncio.run(tick_in(folder / "state"))
    return folder / "state"


def remember_the_visit(before: Path, after: Path) -> None:
    """Take what the reader noted of the lost machine's site for a note of the new one's: both have one name."""
    (noted,) = (before / "seen").iterdir()
    place = SeenFile(after / "seen", str((after / "site").resolve())).path
    place.parent.mkdir()
    shutil.copy(noted, place)


def test_readers_find_the_log_that_they_saw_continued(lost: Path, restored: Path) -> None:
    before = json.loads((lost / "site" / "current" / "status.json").read_text())["generation"]
    after = json.loads((restored / "site" / "current" / "status.json").read_text())["generation"]

    verified = verify(restored)

    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert f"its first {log_size(lost)} entries are those of the last visit" in verified.stdout
    assert log_size(restored) >= log_size(lost) > 0
    assert after > before
    assert settings_of(restored).log_key_path.stat().st_mode & 0o777 == 0o600


def test_every_body_that_was_paid_for_is_delivered(lost: Path, restored: Path) -> None:
    bought: list[dict[str, Any]] = json.loads((lost / "bought.json").read_text())

    async def replay() -> list[tuple[int, bytes]]:
        async with gateway_app(restored, vault=None, clock=ManualClock(AFTER)) as app:
            answers = [await app.get(one["path"], PAYMENT_SIGNATURE=one["header"]) for one in bought]
            return [(answer.status_code, answer.content) for answer in answers]

    assert asyncio.run(replay()) == [(200, base64.b64decode(one["body"])) for one in bought]
