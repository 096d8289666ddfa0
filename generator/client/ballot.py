"""Parts of `emi vote`: the open round as published, the voter's key, a signed ballot, a drop into the inbox."""

import http.client
import urllib.error
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from algosdk.account import address_from_private_key
from algosdk.atomic_transaction_composer import AccountTransactionSigner
from algosdk.encoding import msgpack_encode
from algosdk.error import WrongChecksumError, WrongKeyLengthError
from algosdk.transaction import PaymentTxn, SuggestedParams

from gateway.devnet.keys import load_or_make
from gateway.wire.algorand import key_of
from gateway.wire.ballots import CHANGES, lease_of
from gateway.wire.daily import DailyAnswer, closes_at, is_daily
from gateway.wire.foreign import read_json
from gateway.wire.inbox import OPEN_DAILY, OPEN_ROUND, AnnouncedRound
from gateway.wire.notes import TAPPED, Chances, RoundVote, Vote
from generator.catalog.links import DAILY_JSON
from generator.catalog.text.figures import price
from generator.catalog.text.labels import LEANING
from generator.catalog.words import Prediction
from generator.client.published import Published, fetch, published_json, unreachable
from generator.errors import GeneratorError

# What people and the answers of the API call the three outcomes.
WORDS: Final = {
    "up": Prediction.BULLISH,
    "small": Prediction.NEUTRAL,
    "small move": Prediction.NEUTRAL,
    "small_move": Prediction.NEUTRAL,
    "flat": Prediction.NEUTRAL,
    "down": Prediction.BEARISH,
    **{word.lower(): word for word in Prediction},
}


def read_vote(choice: str | None, chances: str | None, *, word: bool) -> tuple[str, Chances | None]:
    """Return the word and the chances that a command gives; no chances where the word alone is wanted.

    Raises:
        GeneratorError: it gives no answer, two of them, or chances that are none.
    """
    if (choice is None) == (chances is None):
        raise GeneratorError("give up, small or down, or your own chances: --chances 55,30,15")
    if chances is not None:
        if word:
            raise GeneratorError("--word sends a word alone: give up, small or down in place of --chances")
        try:
            given = Chances.read(chances)
        except ValueError as error:
            raise GeneratorError(f"--chances: {error}") from None
        return given.choice, given

    named = WORDS.get((choice or "").lower())
    if named is None:
        raise GeneratorError(f"choice is {choice!r}; allowed: up, small, down (or {', '.join(Prediction)})")
    return named, None if word else TAPPED[named]


def in_words(vote: RoundVote) -> str:
    """Say what a vote is."""
    if vote.chances is None:
        return vote.choice
    up, small, down = vote.chances
    said = f"up {up}%, small move {small}%, down {down}%"
    if vote.chances == TAPPED[vote.choice]:
        said = f"{LEANING[vote.choice]}: {said}"
    return f"{said} (counts as {vote.choice})"


def find_open_round(origin: str | None, site: Path, wanted: str | None) -> tuple[str, str]:
    """Return the id of the round that takes votes, and when it closes.

    Args:
        origin: where to ask; None reads the published site of this machine.
        site: its folder.
        wanted: the only round to vote in, None for whichever is open.

    Raises:
        GeneratorError: nothing is published, no round is open, or it is another than the wanted one.
    """
    body = published_json(Published(origin or site), "/api/human-consensus.php")
    open_round = body.get("open_round") if isinstance(body, dict) else None
    if not isinstance(open_round, dict) or not isinstance(open_round.get("round_id"), str):
        raise GeneratorError(
            "no round takes votes now; the next opens when the brain has a forecast, try again in a minute"
        )

    round_id = open_round["round_id"]
    closes = str(open_round.get("closes"))
    if wanted not in {None, round_id}:
        raise GeneratorError(f"round {wanted} does not take votes; {round_id} does, until {closes}")

    try:
        closed = datetime.fromisoformat(closes) <= datetime.now(UTC)
    except (ValueError, TypeError):
        raise GeneratorError(f"the published closing time {closes!r} is not a time") from None
    if closed:
        raise GeneratorError(f"votes in {round_id} closed {closes}; what is published is stale, is the service up?")
    return round_id, closes


def find_open_question(origin: str | None, site: Path) -> tuple[str, str, float | None]:
    """Return the name of the daily question that takes answers, when it closes, and its base in USD, None without one.

    Args:
        origin: where to ask; None reads the published site of this machine.
        site: its folder.

    Raises:
        GeneratorError: nothing is published, or no question takes answers.
    """
    body = published_json(Published(origin or site), DAILY_JSON)
    questions = body.get("questions") if isinstance(body, dict) else None

    for question in questions if isinstance(questions, list) else ():
        name = (
            str(question.get("question_id")) if isinstance(question, dict) and question.get("phase") == "open" else ""
        )
        if is_daily(name) and closes_at(name) > datetime.now(UTC):
            base = question.get("base")
            return name, str(question.get("closes")), base if type(base) in {int, float} and base > 0 else None

    raise GeneratorError(
        "no daily question takes answers now; one is asked at 13:00 UTC and closes at 12:00 the next day"
    )


def answer_of(question_id: str, half: str | None, nine: str | None) -> DailyAnswer:
    """Read the ranges of an answer as they are typed; GeneratorError says what is wrong."""
    try:
        return DailyAnswer.read(question_id, half or "", nine or "")
    except ValueError as error:
        raise GeneratorError(f"--r50 {half} --r90 {nine}: {error}") from None


def in_dollars(answer: DailyAnswer, base: float) -> str:
    """Write the ranges of an answer as prices.

    >>> in_dollars(DailyAnswer("BTC-DAILY-20261124", (-120, -40, 35, 110)), 50_000)
    '50% sure between $49,800 and $50,175, 90% between $49,400 and $50,550'
    """
    low_90, low_50, high_50, high_90 = (price(base * (1 + end / 10_000)) for end in answer.ends)
    return f"50% sure between {low_50} and {high_50}, 90% between {low_90} and {high_90}"


def load_key(path: Path) -> str:
    """Read an account's key; make one, readable by its owner only, on first use.

    Raises:
        DevnetError: the file cannot be read or written, or is not a key.
        GeneratorError: others may read it.
    """
    if path.exists() and path.stat().st_mode & 0o077:
        raise GeneratorError(f"{path} may be read by others: chmod 600 it")
    return load_or_make(path).secret


def count_change(key_file: Path, vote: Vote) -> int:
    """Return how often the vote of a key in a round was changed before this one, and note it next to the key.

    Rounds and daily questions are noted apart, as both may be open.

    The same vote again changes nothing: it is the same ballot, which counts once, so that a vote whose answer was
    lost may be sent again. It is noted before anything is signed: no number is used for the same vote twice in between
    others.

    Raises:
        GeneratorError: it was changed as often as a round takes, or cannot be noted.
    """
    round_id = vote.subject
    answer = _as_noted(vote)
    note = key_file.with_name(f"{key_file.name}.{'answers' if isinstance(vote, DailyAnswer) else 'votes'}")
    try:
        noted, count, last = note.read_text().split()
        change = int(count)
    except (OSError, ValueError):
        noted, last, change = "", "", 0

    if noted != round_id:
        change = 0
    elif last != answer:
        change += 1
    if change >= CHANGES:
        raise GeneratorError(f"this key changed its vote {CHANGES - 1} times in {round_id}; its last one counts")

    draft = note.with_name(f".{note.name}.tmp")
    try:
        draft.write_text(f"{round_id} {change} {answer}\n")
        draft.replace(note)
    except OSError as error:
        raise GeneratorError(f"{note} cannot be written: {error.strerror}") from None
    return change


def _as_noted(vote: Vote) -> str:
    if isinstance(vote, DailyAnswer):
        return str(vote)
    return vote.choice if vote.chances is None else str(vote.chances)


def sign_ballot(
    private_key: str, vote: Vote, address: str, genesis_hash: str, *, change: int | None = None
) -> tuple[str, bytes]:
    """Sign one ballot that no one can ever submit: its fee is zero and its validity ends in ledger round 1.

    Args:
        private_key: base64 of seed and public key, as the SDK writes it.
        vote: the round that takes votes, and the word or the chances; or an answer to the daily question.
        address: the arena's.
        genesis_hash: standard base64.
        change: how often the vote in this round was changed before. It makes a return to an earlier vote another
            ballot, which counts when it comes last; None signs without a lease.

    Returns:
        The transaction id and the file's content: base64 of the msgpack.
    """
    params = SuggestedParams(fee=0, first=1, last=1, gh=genesis_hash, flat_fee=True)
    sender = address_from_private_key(private_key)
    lease = None if change is None else lease_of(key_of(sender), vote.subject, change)
    payment = PaymentTxn(sender, params, address, 0, note=vote.note, lease=lease)
    signed = AccountTransactionSigner(private_key).sign_transactions([payment], [0])[0]
    return str(payment.get_txid()), msgpack_encode(signed).encode() + b"\n"


def vote_over_http(url: str, private_key: str, vote: Vote, change: int) -> str:
    """Sign a free ballot for the path of a service, hand it in, and return its id; GeneratorError says why not."""
    asked = {"voter": address_from_private_key(private_key), **_query_of(vote)}
    terms = _ask(f"{url}?{urlencode(asked)}")
    try:
        txid, data = sign_ballot(private_key, vote, terms["arena"], terms["genesis_hash"], change=change)
    except (KeyError, TypeError, ValueError, WrongChecksumError, WrongKeyLengthError) as error:
        raise GeneratorError(f"{url} does not say what to sign: {error}") from None
    _ask(url, {"X-Ballot": data.decode().strip()})
    return txid


def _query_of(vote: Vote) -> dict[str, str]:
    """Write what is asked for as the path for ballots reads it."""
    if isinstance(vote, DailyAnswer):
        low_90, low_50, high_50, high_90 = vote.ends
        return {"daily": vote.question_id, "r50": f"{low_50},{high_50}", "r90": f"{low_90},{high_90}"}
    answer = {"choice": vote.choice} if vote.chances is None else {"chances": str(vote.chances)}
    return {"round": vote.round_id, **answer}


def _ask(url: str, headers: Mapping[str, str] | None = None) -> Any:
    """Return what the path for ballots answers."""
    try:
        status, body = fetch(url, headers=headers)
        answer = read_json(body)
    except urllib.error.URLError as error:
        raise GeneratorError(unreachable(url.partition("?")[0], error)) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise GeneratorError(f"{url.partition('?')[0]} takes no ballots: {error}") from None

    if status != HTTPStatus.OK:
        detail = answer.get("detail") if isinstance(answer, dict) else None
        raise GeneratorError(f"the ballot is not taken: {detail or f'HTTP {status}'}")
    return answer


def drop(folder: Path, txid: str, data: bytes) -> Path:
    """Put a ballot into the inbox in one step: the generator never sees half of it; GeneratorError if it cannot."""
    path = folder / f"{txid}.ballot"
    draft = folder / f".{txid}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError as error:
        raise GeneratorError(f"inbox {folder} cannot be written: {error.strerror}") from None
    return path


def check_takes(folder: Path, vote: RoundVote) -> None:
    """Refuse chances where the generator that reads a folder says that the round takes words alone.

    Raises:
        GeneratorError: the round was opened by a version from before votes could give chances.
    """
    try:
        taking = AnnouncedRound.of((folder / OPEN_ROUND).read_bytes())
    except (OSError, ValueError):
        return
    if vote.chances is not None and taking.round_id == vote.round_id and not taking.takes_chances:
        raise GeneratorError(
            f"{vote.round_id} opened before the service took chances and takes a word alone: add --word; "
            "the next round takes chances"
        )


def is_read(folder: Path, round_id: str) -> bool:
    """Return whether a generator said lately that it counts ballots of this round or question that lie in a folder."""
    try:
        taking = AnnouncedRound.of((folder / (OPEN_DAILY if is_daily(round_id) else OPEN_ROUND)).read_bytes())
    except (OSError, ValueError):
        return False
    return taking.round_id == round_id and taking.is_read(datetime.now(UTC).timestamp() * 1000)
