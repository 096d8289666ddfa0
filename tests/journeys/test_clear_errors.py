"""Everything a newcomer can get wrong gives one clear line, and loses nothing."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.words import SourceMode
from generator.settings import GeneratorSettings
from tests.support.clock import ManualClock
from tests.support.processes import emi_here
from tests.support.services import opened


def one_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    return lines[0]


def begin(settings: GeneratorSettings) -> None:
    """Let a generator begin its record, and go."""

    async def work() -> None:
        async with opened(settings.state_dir, ManualClock(), settings):
            pass

    asyncio.run(work())


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["up"], {"EMI_PORT": "banana"}, "EMI_PORT is 'banana'"),
        (["tick", "--source", "recorded", "--data", "nowhere"], {}, "nowhere"),
        # A file system where even root cannot make a folder.
        (["tick"], {"EMI_STATE_DIR": "/sys/emi-state"}, "/sys/emi-state"),
        (["up"], {"EMI_STATE_DIR": "/sys/emi-state"}, "/sys/emi-state"),
        (["tick"], {"EMI_STATE_DIR": __file__}, __file__),
        (["tick", "--at", "2022-10-20T12:00:00Z"], {}, "--source recorded"),
        (["tick", "--source", "recorded", "--data", ".", "--at", "garbage"], {}, "'garbage' is not a time"),
        (["up"], {"EMI_NETWORK": "mainnet"}, "EMI_FACILITATOR_URL"),
        (["up", "--as", "testnet"], {"EMI_BASE_URL": "https://example.org", "EMI_SOURCE": "live"}, "not on loopback"),
        (["up", "--as", "testnet"], {"EMI_HOST": "0.0.0.0", "EMI_BASE_URL": "http://localhost"}, "not on loopback"),
        (["up", "--as", "testnet"], {"EMI_FACILITATOR_URL": "http://127.0.0.1:9"}, "must not be set"),
        (["up", "--as", "mainnet"], {}, "--as is 'mainnet'; allowed: testnet"),
        (["up", "--source", "recorded", "--data", "/nope"], {}, "--data /nope is not a folder"),
        (["verify"], {}, "there is no published site in emi-state/site; --url reads"),
        (["key", "log"], {}, "run `emi key log --make`, or start the service once"),
        (["key", "log", "--rotate"], {}, "run `emi key log --make`, or start the service once"),
        (["up"], {"EMI_SITE_URL": "s3://market/site"}, "EMI_SITE_URL must not be set"),
        (["tick"], {"EMI_BASE_URL": "https://user:sekrit@example.org"}, "credentials do not belong"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, arguments: list[str], settings: dict[str, Any], said: str) -> None:
    done = emi_here(*arguments, cwd=tmp_path, **settings)

    assert done.returncode == 1
    assert said in one_line(done.stderr)
    assert "sekrit" not in done.stderr


@pytest.mark.parametrize("command", ["up", "tick", "schedule"])
def test_a_folder_without_candles_is_one_line_before_anything_starts(tmp_path: Path, command: str) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    done = emi_here(command, "--source", "recorded", "--data", str(empty), cwd=tmp_path)

    assert done.returncode == 1
    assert one_line(done.stderr).startswith("emi: no candles of BTC, ETH")
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        done = emi_here("up", "--port", str(port), cwd=tmp_path)

    assert done.returncode == 1
    assert f"port {port}" in one_line(done.stderr)


@pytest.mark.parametrize(("command", "name"), [("tick", "memory.sqlite3"), ("gateway", "payments.sqlite3")])
def test_a_corrupt_database_is_one_line_and_left_alone(tmp_path: Path, command: str, name: str) -> None:
    database = tmp_path / "emi-state" / name
    database.parent.mkdir()
    database.write_bytes(b"this is not a database" * 100)
    unused = dict.fromkeys(("EMI_FACILITATOR_URL", "EMI_ALGOD_URL"), "http://127.0.0.1:9")

    done = emi_here(command, cwd=tmp_path, **unused)

    assert done.returncode == 1
    assert name in one_line(done.stderr)
    assert database.read_bytes() == b"this is not a database" * 100


def test_a_memory_of_another_market_is_refused(tmp_path: Path) -> None:
    begin(GeneratorSettings(state_dir=tmp_path / "emi-state"))

    done = emi_here("tick", cwd=tmp_path, EMI_SEED="7")

    assert done.returncode == 1
    assert "seed 2026" in one_line(done.stderr)


@pytest.mark.parametrize(
    "command", ["up", "tick", "schedule", "gateway", "devnet", "buy", "vote", "read", "verify", "doctor"]
)
def test_every_command_has_help_with_an_example(tmp_path: Path, command: str) -> None:
    done = emi_here(command, "--help", cwd=tmp_path)

    assert done.returncode == 0
    assert "Example" in done.stdout
    assert "emi " + command in done.stdout


def test_another_recording_on_the_same_state_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        rows = [f"{1_767_225_600_000 + 300_000 * place},1,1,1,1,1" for place in range(400)]
        (tmp_path / name / "BTCUSDT.csv").write_text("ts,open,high,low,close,volume\n" + "\n".join(rows))
    begin(GeneratorSettings(state_dir=tmp_path / "emi-state", source=SourceMode.RECORDED, data_dir=(tmp_path / "one",)))

    done = emi_here("tick", "--source", "recorded", "--data", "two", cwd=tmp_path)

    assert done.returncode == 1
    table, complaint = done.stderr.strip().rsplit("\n", 1)
    assert table.splitlines()[1].startswith("BTCUSDT.csv")
    assert "recorded one" in one_line(complaint)
