"""`emi vote`."""

import json
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from typer.testing import CliRunner

from gateway.buyer.ballots import BALLOT_PATH
from gateway.devnet.errors import DevnetError
from gateway.settings import GatewaySettings
from gateway.wire.algorand import DEMO_ARENA, key_of
from gateway.wire.ballots import WORDS_FORM, read_ballot
from gateway.wire.inbox import AnnouncedRound
from gateway.wire.networks import NETWORKS
from gateway.wire.notes import RoundVote
from generator.arena.ballots import Ballot, judge
from generator.catalog.words import Prediction
from generator.cli.vote import vote
from generator.client.ballot import count_change, drop, find_open_round, load_key
from generator.client.published import PublishedError
from generator.errors import GeneratorError
from generator.record.inbox.folder import Inbox
from tests.arena.test_ballots import OPEN, POLL, none_known
from tests.support.buyer_pages import ballot_desk
from tests.support.clock import ManualClock
from tests.support.local_servers import answering, serving

CLOSES = "2999-11-20T13:00:00Z"
OURS = {"round_id": OPEN.round_id, "closes": CLOSES}
NOW = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)


def publish(state: Path, open_round: object) -> Path:
    folder = state / "site" / "current" / "api"
    folder.mkdir(parents=True)
    (folder / "human-consensus.php").write_text(json.dumps({"open_round": open_round}))
    return state / "site"


def run(state: Path, *arguments: str) -> tuple[int, str, BaseException | None]:
    app = typer.Typer()
    app.command()(vote)
    result = CliRunner().invoke(app, [*arguments, "--state-dir", str(state)])
    return result.exit_code, result.output, result.exception


def counted(state: Path, inbox: str = "inbox") -> list[Ballot]:
    """Judge the inbox as a tick before the close would."""
    files = [replace(file, arrived_ms=0) for file in Inbox(state / inbox).files()]
    verdicts, ballots = judge(files, POLL, none_known)
    assert [verdict.reason for verdict in verdicts] == [None] * len(files)
    return list(ballots)


def test_a_vote_lands_in_the_inbox_as_one_ballot_that_counts(tmp_path: Path) -> None:
    publish(tmp_path, {"round_id": OPEN.round_id, "closes": CLOSES})

    code, output, _ = run(tmp_path, "bullish")

    (ballot,) = counted(tmp_path)
    assert code == 0
    assert ballot.choice is Prediction.BULLISH
    assert [path.name for path in (tmp_path / "inbox").iterdir()] == [f"{ballot.txid}.ballot"]
    assert ballot.chances == (40, 33, 27)
    assert ballot.txid in output
    said = "a little more likely up: up 40%, small move 33%, down 27% (counts as BULLISH) in round"
    assert said in " ".join(output.split())
    assert output.index("a little more") < output.index(ballot.txid)  # shown before it is sent


def test_the_second_vote_is_of_the_same_voter_whose_key_is_private(tmp_path: Path) -> None:
    publish(tmp_path, {"round_id": OPEN.round_id, "closes": CLOSES})

    run(tmp_path, "BULLISH")
    run(tmp_path, "BEARISH")

    first, second = counted(tmp_path)
    assert first.voter == second.voter
    assert first.choice != second.choice
    assert (tmp_path / "keys" / "voter.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("arguments", "published", "line"),
    [
        (["maybe"], {"round_id": OPEN.round_id, "closes": CLOSES}, "allowed: up, small, down (or BULLISH, BEARISH,"),
        ([], OURS, "give up, small or down"),
        (["up", "--chances", "55,30,15"], OURS, "give up, small or down"),
        (["--word", "--chances", "55,30,15"], OURS, "--word sends a word alone"),
        (["--chances", "55,30"], OURS, "chances are three numbers"),
        (["--chances", "55,30,16"], OURS, "the chances add up to 101, not to 100"),
        (["--chances", "55.0,30,15"], OURS, "whole numbers from 0 to 100"),
        (["--chances", "-5,55,50"], OURS, "whole numbers from 0 to 100"),
        (["BULLISH"], None, "no round takes votes now"),
        (["BULLISH"], {"round_id": OPEN.round_id, "closes": "2020-01-01T00:00:00Z"}, "is the service up?"),
        (["BULLISH"], {"round_id": OPEN.round_id, "closes": None}, "is not a time"),
        (["BULLISH", "--round", "BTC-1"], {"round_id": OPEN.round_id, "closes": CLOSES}, "does not take votes"),
    ],
)
def test_a_vote_that_cannot_be_cast_is_one_clear_line(
    tmp_path: Path, arguments: list[str], published: object, line: str
) -> None:
    publish(tmp_path, published)

    code, _, error = run(tmp_path, *arguments)

    assert code == 1
    assert isinstance(error, GeneratorError)
    assert line in str(error)
    assert not (tmp_path / "inbox").exists()


def test_without_a_service_it_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(PublishedError, match="start the service with `emi up`"):
        find_open_round(None, tmp_path / "site", None)


@pytest.mark.parametrize("content", ["", "my diary", "QUJD"])
def test_a_key_file_that_is_none_is_not_overwritten(tmp_path: Path, content: str) -> None:
    path = tmp_path / "voter.key"
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(DevnetError, match="holds no key"):
        load_key(path)
    assert path.read_text() == content


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "voter.key"
    load_key(path)
    path.chmod(0o644)

    with pytest.raises(GeneratorError, match="chmod 600"):
        load_key(path)


def test_an_inbox_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "inbox").write_text("a file")

    with pytest.raises(GeneratorError, match="cannot be written"):
        drop(tmp_path / "inbox", "TX", b"")


def origin(status: int, body: bytes) -> AbstractContextManager[str]:
    return answering(lambda path, _body: (status if path == "/api/human-consensus.php" else 404, body))


FAR_MS = 32_000_000_000_000


def served(open_round: object) -> bytes:
    return json.dumps({"open_round": open_round}).encode()


def test_over_http_the_ballot_is_signed_for_that_arena_and_handed_in(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path / "theirs")
    inbox.announce(AnnouncedRound(OPEN.round_id, FAR_MS, FAR_MS))
    settings = GatewaySettings(state_dir=tmp_path, arena={"inbox_url": str(inbox.folder)})
    routes = [
        Route("/api/human-consensus.php", lambda _: JSONResponse({"open_round": OURS})),
        Route(BALLOT_PATH, ballot_desk(settings, ManualClock(NOW)).show),
    ]
    with serving(Starlette(routes=routes)) as url:
        code, output, _ = run(tmp_path, "BULLISH", "--url", url)

    assert (code, len(counted(tmp_path, "theirs"))) == (0, 1)
    assert f"{url} has it" in output
    assert f"{url}/files/ballots/{OPEN.round_id}.json" in output
    assert not (tmp_path / "inbox").exists()


@pytest.mark.parametrize(
    ("status", "body", "line"),
    [
        (503, b'{"detail": "The free vote is off."}', "The free vote is off."),
        (429, b'{"reason": "full", "detail": "The places are kept until 12:55 UTC."}', "are kept until 12:55 UTC."),
        (404, b"<html>", "takes no ballots"),
        (200, b"[]", "does not say what to sign"),
        (200, b'{"arena": "x", "genesis_hash": "y"}', "does not say what to sign"),
    ],
)
def test_an_origin_that_takes_no_ballot_says_why_in_one_line(
    tmp_path: Path, status: int, body: bytes, line: str
) -> None:
    def answer(path: str, _body: bytes | None) -> tuple[int, bytes]:
        return (200, served(OURS)) if path == "/api/human-consensus.php" else (status, body)

    with answering(answer) as url:
        code, _, error = run(tmp_path, "BULLISH", "--url", url)

    assert (code, isinstance(error, GeneratorError)) == (1, True)
    assert line in str(error)


@pytest.mark.parametrize(("read", "words"), [(True, "with its next tick"), (False, "no service reads this folder now")])
def test_a_count_is_promised_only_where_a_service_reads_the_folder(tmp_path: Path, read: bool, words: str) -> None:
    publish(tmp_path, OURS)
    if read:
        Inbox(tmp_path / "inbox").announce(AnnouncedRound(OPEN.round_id, FAR_MS, FAR_MS))

    assert words in run(tmp_path, "BULLISH")[1]


def test_a_round_from_before_chances_is_voted_in_by_a_word(tmp_path: Path) -> None:
    publish(tmp_path, OURS)
    Inbox(tmp_path / "inbox").announce(AnnouncedRound(OPEN.round_id, FAR_MS, FAR_MS, WORDS_FORM))

    _, _, error = run(tmp_path, "up")
    code, _, _ = run(tmp_path, "up", "--word")

    assert "takes a word alone: add --word" in str(error)
    assert (code, [ballot.chances for ballot in counted(tmp_path)]) == (0, [None])


def test_an_inbox_that_is_named_is_taken_and_no_count_is_promised(tmp_path: Path) -> None:
    with origin(200, served(OURS)) as url:
        code, output, _ = run(tmp_path, "BULLISH", "--url", url, "--inbox", str(tmp_path / "inbox"))

    assert (code, len(counted(tmp_path))) == (0, 1)
    assert "no service reads this folder now" in output


@pytest.mark.parametrize(("status", "body"), [(200, b"<html>"), (503, b"{}"), (200, b"\xff")])
def test_an_origin_that_answers_nonsense_is_one_line(tmp_path: Path, status: int, body: bytes) -> None:
    with origin(status, body) as url, pytest.raises(PublishedError, match="cannot be read"):
        find_open_round(url, tmp_path, None)


@pytest.mark.parametrize("url", ["file:///etc", "ftp://x", "localhost"])
def test_only_http_origins_are_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(PublishedError, match="is not a valid origin"):
        find_open_round(url, tmp_path, None)


def test_who_returns_to_an_earlier_choice_has_that_one_counted(tmp_path: Path) -> None:
    publish(tmp_path, {"round_id": OPEN.round_id, "closes": CLOSES})

    for arguments in (["up"], ["--chances", "55,30,15"], ["up", "--word"], ["up"]):
        run(tmp_path, *arguments)

    ballots = counted(tmp_path)
    assert len({ballot.txid for ballot in ballots}) == 4
    assert {ballot.chances for ballot in ballots} == {(40, 33, 27), (55, 30, 15), None}


def test_the_same_choice_again_is_the_same_ballot(tmp_path: Path) -> None:
    publish(tmp_path, {"round_id": OPEN.round_id, "closes": CLOSES})

    for _ in range(3):
        run(tmp_path, "BULLISH")

    assert len(counted(tmp_path)) == 1


def test_a_vote_is_changed_19_times_in_a_round_and_as_often_in_the_next(tmp_path: Path) -> None:
    key_file, choices = tmp_path / "voter.key", (Prediction.BULLISH, Prediction.BEARISH)

    changes = [count_change(key_file, RoundVote.of(OPEN.round_id, choices[number % 2])) for number in range(20)]
    with pytest.raises(GeneratorError, match="its last one counts"):
        count_change(key_file, RoundVote.of(OPEN.round_id, "BULLISH"))

    assert changes == list(range(20))
    assert count_change(key_file, RoundVote.of("BTC-20261120-140000", "BULLISH")) == 0


@pytest.mark.parametrize("note", ["", "garbage", "BTC-20261120-130000 x UP", "\xff"])
def test_a_note_of_changes_that_cannot_be_read_begins_at_zero(tmp_path: Path, note: str) -> None:
    (tmp_path / "voter.key.votes").write_text(note)

    assert count_change(tmp_path / "voter.key", RoundVote.of(OPEN.round_id, "BULLISH")) == 0


def ask_daily(state: Path, question_id: str) -> None:
    folder = state / "site" / "current" / "arena"
    folder.mkdir(parents=True)
    question = {"question_id": question_id, "phase": "open", "closes": CLOSES, "base": 50_000.0}
    (folder / "daily.json").write_text(json.dumps({"questions": [question]}))


def test_an_answer_to_the_daily_question_lands_as_two_ranges(tmp_path: Path) -> None:
    ask_daily(tmp_path, "BTC-DAILY-29981119")

    code, output, _ = run(tmp_path, "--daily", "--r50", "-40,35", "--r90", "-120,110")

    (file,) = Inbox(tmp_path / "inbox").files()
    network = NETWORKS["devnet"]
    ballot = read_ballot(file.data, key_of(DEMO_ARENA), network.genesis_hash_bytes)
    assert code == 0, output
    assert ballot.vote.note == b'emi-arena/v2:j{"d":"BTC-DAILY-29981119","r50":[-40,35],"r90":[-120,110]}'
    assert "50% sure between $49,800 and $50,175, 90% between $49,400 and $50,550" in output
    assert "/files/ballots/BTC-DAILY-29981119.json" in output


def test_ranges_that_do_not_fit_or_no_question_end_the_daily_vote(tmp_path: Path) -> None:
    ask_daily(tmp_path, "BTC-DAILY-29981119")
    ask_daily(tmp_path / "over", "BTC-DAILY-20201119")

    outside = run(tmp_path, "--daily", "--r50", "-140,35", "--r90", "-120,110")
    missing = run(tmp_path, "--daily", "--r50", "-140,35")
    both = run(tmp_path, "up", "--daily", "--r50", "-40,35", "--r90", "-120,110")
    over = run(tmp_path / "over", "--daily", "--r50", "-40,35", "--r90", "-120,110")

    assert "50% range lies inside the 90% range" in str(outside[2])
    assert "two whole numbers" in str(missing[2])
    assert "neither a choice nor a round" in str(both[2])
    assert "no daily question takes answers" in str(over[2])
