"""Witnesses sign the log's heads: asked after a release, published with the next, and never in the way of a tick."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from generator.catalog.formats import iso, ms_of
from generator.errors import GeneratorError
from generator.record.keys import read_keys
from generator.record.log.note import Checkpoint
from generator.record.log.policy import Policy, read_policy
from generator.record.log.tiles import Edge
from generator.record.proof import ForecastProof, prove
from generator.record.published import WITNESSED, witnessed_path
from generator.record.verify import VerifyError, open_log
from generator.record.witness import Witnesses, policy_of
from tests.support.arena_inputs import HOUR, NOON, hours
from tests.support.gateway_app import in_loop
from tests.support.log_records import Record, run_verify
from tests.support.witness import IndependentWitness, served

SECOND = 1000
CHECKER = Path(__file__).parents[2] / "docs" / "howto" / "check_proof.py"


@pytest.fixture
def record(tmp_path: Path) -> Record:
    made = Record(tmp_path / "record")
    made.play(hours(NOON, 1))
    made.publish()
    return made


def log_key(record: Record) -> str:
    return read_keys(record.key_file)[0].verifier.text


def policy(*witnesses: IndependentWitness, least: str = "all") -> Policy:
    return read_policy(policy_text(*witnesses, least=least))


def policy_text(*witnesses: IndependentWitness, least: str = "all") -> str:
    lines = [f"witness w{number} {witness.vkey} {witness.url}" for number, witness in enumerate(witnesses)]
    members = " ".join(f"w{number}" for number in range(len(witnesses)))
    return "\n".join((*lines, f"group g {least} {members}", "quorum g", ""))


@asynccontextmanager
async def witnesses_of(record: Record, *names: str, now: int | None = None) -> AsyncIterator[list[IndependentWitness]]:
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(served(IndependentWitness(log_key(record), name, now=now)))
            for name in names
        ]


async def ask(record: Record, asked: Policy, timeout_s: float = 5.0) -> None:
    """Ask once about the published head, as a tick does, and wait for the end of it."""
    asking = Witnesses(asked, record.published.cosigned, record.published.extension_of, timeout_s)
    head = record.read("checkpoint")
    asking.ask(head, Checkpoint.parse(head.decode().partition("\n\n")[0] + "\n").size)
    if asking._task is not None:
        await asking._task
    await asking.aclose()


@in_loop
async def test_a_signature_that_comes_in_two_pieces_counts(record: Record) -> None:
    async with witnesses_of(record, "one.example") as (one,):
        one.in_pieces = True
        await ask(record, policy(one))
    record.publish()

    note = (record.site / witnessed_path(record.log_size).lstrip("/")).read_text()
    assert [line.split(" ")[1] for line in note.splitlines()[4:]] == ["example.org/log", "one.example"]


@in_loop
async def test_a_head_is_signed_by_each_witness_and_comes_with_the_next_release(record: Record) -> None:
    async with witnesses_of(record, "one.example", "two.example") as (one, two):
        await ask(record, policy(one, two))
    record.publish()

    size = record.log_size
    note = (record.site / witnessed_path(size).lstrip("/")).read_text()
    assert (record.site / WITNESSED.lstrip("/")).read_text() == f"{size}\n"
    assert [line.split(" ")[1] for line in note.splitlines()[4:]] == ["example.org/log", "one.example", "two.example"]
    assert record.read("checkpoint") == note.encode()
    assert (one.answers, two.answers) == ([200], [200])


@in_loop
async def test_a_grown_log_is_proved_to_extend_what_the_witness_saw(record: Record) -> None:
    async with witnesses_of(record, "one.example") as (one,):
        asking = Witnesses(policy(one), record.published.cosigned, record.published.extension_of)
        for turn in range(3):
            record.play(hours(NOON + (turn + 1) * HOUR, 1))
            record.publish()
            asking.ask(record.read("checkpoint"), record.log_size)
            assert asking._task is not None
            await asking._task
        record.publish()

        assert one.answers == [200, 200, 200]
        assert one.seen[0] == record.log_size
    listed = (record.site / WITNESSED.lstrip("/")).read_text().split()
    assert listed == sorted(listed, key=int, reverse=True)
    assert len(listed) == 3


@in_loop
async def test_after_a_restart_the_witness_names_the_size_that_it_saw(record: Record) -> None:
    async with witnesses_of(record, "one.example") as (one,):
        await ask(record, policy(one))
        record.play(hours(NOON + HOUR, 1))
        record.publish()

        await ask(record, policy(one))

        assert one.answers == [200, 409, 200]


@in_loop
async def test_a_witness_that_hangs_dies_or_lies_leaves_the_others_signatures(record: Record) -> None:
    over = asyncio.Event()

    async def hang(_request: web.Request) -> web.Response:
        await over.wait()
        return web.Response()

    async def lie(_request: web.Request) -> web.Response:
        stranger = IndependentWitness(log_key(record), "lying.example")
        return web.Response(body=stranger.line("another text\n"))

    app = web.Application()
    app.router.add_post("/hang/add-checkpoint", hang)
    app.router.add_post("/lie/add-checkpoint", lie)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    base = "http://{}:{}".format(*runner.addresses[0])

    async with witnesses_of(record, "honest.example") as (honest,):
        hanging = IndependentWitness(log_key(record), "hanging.example", url=f"{base}/hang")
        lying = IndependentWitness(log_key(record), "lying.example", url=f"{base}/lie")
        dead = IndependentWitness(log_key(record), "dead.example", url="http://127.0.0.1:9")
        await ask(record, policy(hanging, lying, dead, honest, least="any"), timeout_s=0.2)
    over.set()
    await runner.cleanup()
    record.publish()

    assert [line.split(" ")[1] for line in record.read("checkpoint").decode().splitlines()[4:]] == [
        "example.org/log",
        "honest.example",
    ]


@in_loop
async def test_a_witness_that_does_not_sign_or_saw_more_is_known_until_it_signs(record: Record) -> None:
    async with witnesses_of(record, "one.example") as (ahead,):
        dead = IndependentWitness(log_key(record), "dead.example", url="http://127.0.0.1:9")
        ahead.seen = (10**6, b"another root")
        asking = Witnesses(policy(dead, ahead), record.published.cosigned, record.published.extension_of, 0.5)
        names = {witness.key_name: witness.name for witness in asking._asked}
        for now in (100.0, 4_000.0):
            asking.ask(record.read("checkpoint"), record.log_size)
            assert asking._task is not None
            await asking._task
            since = asking.unsigned(now)

        assert since == dict.fromkeys(names.values(), 100.0)
        assert asking.ahead == {
            names["one.example"]: f"it saw 1000000 entries of this log, which has {record.log_size}"
        }
        ahead.seen = (0, b"")
        asking.ask(record.read("checkpoint"), record.log_size)
        assert asking._task is not None
        await asking._task

        assert asking.unsigned(5_000.0) == {names["dead.example"]: 100.0}
        assert asking.ahead == {}


@in_loop
async def test_a_head_without_any_signature_is_asked_about_again(record: Record) -> None:
    gone = IndependentWitness(log_key(record), "one.example", url="http://127.0.0.1:9")
    await ask(record, policy(gone), timeout_s=0.2)
    record.publish()

    assert not (record.site / WITNESSED.lstrip("/")).exists()
    async with served(gone):
        await ask(record, policy(gone))
    record.publish()
    assert (record.site / WITNESSED.lstrip("/")).exists()


@in_loop
async def test_verify_takes_a_log_that_its_readers_witnesses_saw(record: Record, tmp_path: Path) -> None:
    async with witnesses_of(record, "one.example", "two.example") as (one, two):
        await ask(record, policy(one, two))
        record.publish()
        (tmp_path / "policy").write_text(policy_text(one, two))

    result = run_verify(record.site, "--policy", str(tmp_path / "policy"))

    assert result.exit_code == 0, result.output
    assert f"witnesses of the policy signed its first {record.log_size} entries by" in result.output
    assert "witnesses that you trust saw this log by" in result.output.replace("\n", " ")
    assert "two visitors" not in result.output.replace("\n", " ")


@in_loop
async def test_verify_refuses_too_few_witnesses_and_too_old_ones(record: Record, tmp_path: Path) -> None:
    async with witnesses_of(record, "one.example", now=1_700_000_000) as (one,):
        await ask(record, policy(one))
        record.publish()
        stranger = IndependentWitness(log_key(record), "two.example")
        (tmp_path / "both").write_text(policy_text(one, stranger))
        (tmp_path / "one").write_text(policy_text(one))

    few = run_verify(record.site, "--policy", str(tmp_path / "both"))
    old = run_verify(record.site, "--policy", str(tmp_path / "one"))

    assert (few.exit_code, old.exit_code) == (1, 1)
    assert "no head of the log has the witnesses that the policy asks for (1 were signed by any)" in few.output
    assert "more than 48 hours prove too little (--max-age)" in old.output
    assert run_verify(record.site, "--policy", str(tmp_path / "one"), "--max-age", "1000000").exit_code == 0


@in_loop
async def test_verify_refuses_a_site_without_witnesses_where_a_policy_asks(record: Record, tmp_path: Path) -> None:
    (tmp_path / "policy").write_text(policy_text(IndependentWitness(log_key(record))))

    result = run_verify(record.site, "--policy", str(tmp_path / "policy"))

    assert result.exit_code == 1
    assert "publishes no head of its log that a witness signed" in result.output


@in_loop
async def test_verify_refuses_another_history_than_witnesses_saw(record: Record, tmp_path: Path) -> None:
    """The keeper shows the witness one log and readers another, signed with the same key."""
    async with witnesses_of(record, "one.example") as (one,):
        size = record.log_size
        other = Checkpoint("example.org/log", size, Edge().append([b"\x01" * 32] * size)[0].root())
        text = other.signed(read_keys(record.key_file))
        (tmp_path / "policy").write_text(policy_text(one))
        record.write(
            {WITNESSED: f"{size}\n".encode(), witnessed_path(size): text + one.line(other.text)},
        )

    result = run_verify(record.site, "--policy", str(tmp_path / "policy"))

    assert result.exit_code == 1
    assert f"the first {size} entries are not those that were signed before: history was changed" in result.output


@in_loop
async def test_verify_refuses_a_log_that_lost_entries_since(record: Record, tmp_path: Path) -> None:
    async with witnesses_of(record, "one.example") as (one,):
        earlier = record.read("checkpoint")
        record.play(hours(NOON + HOUR, 1))
        record.publish()
        await ask(record, policy(one))
        record.publish()
        (tmp_path / "policy").write_text(policy_text(one))
    record.write({"/log/checkpoint": earlier})

    result = run_verify(record.site, "--policy", str(tmp_path / "policy"))

    assert result.exit_code == 1
    assert "entries were removed" in result.output


def test_a_policy_that_cannot_be_used_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "policy").write_text("witness a b\nquorum a\n")

    with pytest.raises(GeneratorError, match="line 1"):
        policy_of(tmp_path / "policy")
    with pytest.raises(GeneratorError, match="cannot be read"):
        policy_of(tmp_path / "none")


async def proved(record: Record, seen_at: int) -> tuple[IndependentWitness, ForecastProof]:
    """Return the proof of the round that opened at noon, and the one witness that saw its seal at a time."""
    async with witnesses_of(record, "one.example", now=seen_at) as (one,):
        await ask(record, policy(one))
        record.play(hours(NOON + HOUR, 3))
        record.publish()
        rows = record.memory.resolved_rounds(500)
        opened = next(row for row in rows if row["log_entries"] and ms_of(row["opened"]) == NOON)
        return one, prove(
            record.site_read, {"rounds": rows}, opened["round_id"], policy(one), open_log(record.site_read).keys
        )


def check(proof: Path, *keys: str) -> subprocess.CompletedProcess[str]:
    return run(str(CHECKER), str(proof), *keys)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], check=False, capture_output=True, text=True, timeout=60)


@in_loop
async def test_one_file_proves_one_forecast_to_a_program_that_is_not_ours(record: Record, tmp_path: Path) -> None:
    one, made = await proved(record, NOON // SECOND + 60)
    (tmp_path / "proof").write_bytes(made.data)

    result = check(tmp_path / "proof", log_key(record), "1", one.vkey)

    assert result.returncode == 0, result.stderr
    assert f": seen by {iso(NOON + 60 * SECOND)[:10]}" in result.stdout
    assert made.in_time
    assert len(made.data) <= 4_096
    stranger = IndependentWitness(log_key(record), "two.example")
    assert "witnesses: 1 of 2" in check(tmp_path / "proof", log_key(record), "2", one.vkey, stranger.vkey).stderr
    assert "witnesses: 0 of 1" in check(tmp_path / "proof", log_key(record), "1", stranger.vkey).stderr


@in_loop
async def test_a_seal_that_was_witnessed_after_the_start_is_late(record: Record, tmp_path: Path) -> None:
    one, made = await proved(record, (NOON + 2 * HOUR) // SECOND)
    (tmp_path / "proof").write_bytes(made.data)

    assert not made.in_time
    assert check(tmp_path / "proof", log_key(record), "1", one.vkey).stderr.startswith("late: witnesses saw it at")


@in_loop
async def test_no_proof_is_made_of_what_was_not_sealed_revealed_or_seen(record: Record) -> None:
    stranger = IndependentWitness(log_key(record), "one.example")
    record.play(hours(NOON + HOUR, 3))
    record.publish()
    rows = record.memory.resolved_rounds(500)
    keys = open_log(record.site_read).keys

    for row, reason in (
        ({"round_id": "BTC-1", "log_entries": [], "forecast": {}}, "never sealed"),
        (rows[0], "publishes no head of its log that a witness signed"),
    ):
        with pytest.raises(VerifyError, match=reason):
            prove(record.site_read, {"rounds": [row]}, str(row["round_id"]), policy(stranger), keys)
    with pytest.raises(VerifyError, match="not among the finished rounds"):
        prove(record.site_read, {"rounds": rows}, "BTC-20000101-000000", policy(stranger), keys)
