"""Go's own transparency log packages read, prove and refuse the published log."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.record.keys import read_keys
from generator.record.memory import log
from generator.record.published import head_of
from tests.support.arena_inputs import HOUR, MINUTE, NOON, ticks
from tests.support.log_records import Record

pytestmark = [pytest.mark.outside, pytest.mark.timeout(600)]

GOPATH = Path("/usr/share/gocode")
SOURCE = Path(__file__).parents[1] / "peers" / "tlog" / "main.go"
HOURS = 12
MORE = 600  # entries: more than two full tiles


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None or not (GOPATH / "src/golang.org/x/mod").is_dir():
        pytest.skip("Debian's golang-go and golang-golang-x-mod-dev are not installed")
    built = tmp_path_factory.mktemp("go") / "reader"
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(GOPATH),
        "GOFLAGS": "",
        "GOCACHE": str(built.parent / "cache"),
    }
    subprocess.run(["go", "build", "-o", built, SOURCE], check=True, env=environment, timeout=300)
    return built


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Record]:
    made = Record(tmp_path_factory.mktemp("log"))
    made.play(ticks(NOON, 300, 5))
    made.publish()
    (made.folder / "old").write_bytes(made.read("checkpoint"))
    made.play(ticks(NOON + 305 * MINUTE, HOURS * 60, 5))
    for number in range(MORE):
        at_ms = NOON + 305 * MINUTE + HOURS * HOUR
        with made.memory.writing() as connection:
            state = log.note_key(connection, made.memory.log_state(connection), at_ms, f"entry {number}")
        made.memory.keep(log_state=state)
    made.publish()
    yield made
    made.memory.close()


def read(program: Path, record: Record, log: Path) -> subprocess.CompletedProcess[str]:
    key = read_keys(record.key_file)[0].verifier.text
    command = [str(program), str(log), key, str(record.folder / "old")]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def copied(record: Record, folder: Path) -> Path:
    return Path(shutil.copytree(record.site / "log", folder / "log"))


def test_every_entry_is_proved_and_the_earlier_head_is_its_beginning(program: Path, record: Record) -> None:
    size = record.log_size
    done = read(program, record, record.site / "log")

    assert size > 600
    assert (done.stdout, done.stderr) == (f"{size} entries proved\n", "")


def test_an_older_head_is_proved_by_full_tiles_once_the_partial_ones_are_gone(
    program: Path, record: Record, tmp_path: Path
) -> None:
    log = copied(record, tmp_path)
    older = (record.folder / "old").read_bytes()
    (log / "checkpoint").write_bytes(older)
    for folder in [path for path in log.rglob("*.p") if path.with_suffix("").exists()]:
        shutil.rmtree(folder)

    done = read(program, record, log)

    size = head_of(older).size
    assert size % 256
    assert not (log / f"tile/0/000.p/{size}").exists()
    assert (done.stdout, done.stderr) == (f"{size} entries proved\n", "")


@pytest.mark.parametrize("name", ["tile/entries/001", "tile/0/000", "tile/0/001", "checkpoint"])
def test_one_changed_byte_anywhere_is_refused(program: Path, record: Record, name: str, tmp_path: Path) -> None:
    log = copied(record, tmp_path)
    data = bytearray((log / name).read_bytes())
    data[30] ^= 1
    (log / name).write_bytes(bytes(data))

    done = read(program, record, log)

    assert done.returncode != 0
    assert done.stderr
