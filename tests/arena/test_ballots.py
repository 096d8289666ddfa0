"""Ballots: what counts, what is refused, and by which name."""

import base64
import hashlib
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.wire.algorand import DEMO_ARENA, TRANSACTION_PREFIX, key_of, pack
from gateway.wire.ballots import CHANGES, FIRST_FORM, WORDS_FORM, lease_of
from gateway.wire.foreign import read_msgpack
from gateway.wire.networks import DEVNET, NETWORKS
from gateway.wire.notes import Chances
from generator.arena.ballots import BallotFile, Poll, Refusal, judge
from generator.catalog.words import Prediction, RoundPhase
from tests.arena.test_sealing import an_open_round
from tests.support.arena_inputs import GENESIS, HOUR, MINUTE, NOON, Vote, voter

OPEN = an_open_round()
VOTE = Vote(OPEN.round_id)
POLL = Poll(DEMO_ARENA, GENESIS, {OPEN.round_id: OPEN}, NOON + HOUR)


def none_known(_txids: frozenset[str]) -> frozenset[str]:
    return frozenset()


def refusal_of(file: BallotFile, poll: Poll = POLL) -> str | None:
    verdicts, ballots = judge([file], poll, none_known)
    assert len(ballots) == (verdicts[0].reason is None)
    return verdicts[0].reason


def packed(envelope: dict[str, Any]) -> BallotFile:
    return BallotFile("x", base64.b64encode(pack(envelope)), NOON)


def altered(change: Callable[[dict[str, Any]], object], *, sign: bool = True) -> BallotFile:
    """Change a good ballot's fields, and sign it again unless asked not to."""
    from nacl.signing import SigningKey

    envelope = read_msgpack(base64.b64decode(VOTE.file().data))
    change(envelope)
    if sign and "txn" in envelope and "sig" in envelope:
        signer = SigningKey(base64.b64decode(voter(0))[:32])
        envelope["sig"] = signer.sign(TRANSACTION_PREFIX + pack(envelope["txn"])).signature
    return packed(envelope)


def set_in_transaction(**fields: object) -> BallotFile:
    return altered(lambda envelope: envelope["txn"].update(fields))


def test_a_good_ballot_counts_with_its_voter_round_and_choice() -> None:
    verdicts, ballots = judge([VOTE.file()], POLL, none_known)

    assert [verdict.reason for verdict in verdicts] == [None]
    assert (ballots[0].round_id, ballots[0].choice, ballots[0].arrived_ms) == (OPEN.round_id, Prediction.BULLISH, NOON)
    assert ballots[0].txid == verdicts[0].txid
    assert key_of(ballots[0].voter) == base64.b64decode(voter(0))[32:]


KEY_0, KEY_1 = (base64.b64decode(voter(number))[32:] for number in (0, 1))
LEASE = b"emi-arena/lease" + KEY_0 + OPEN.round_id.encode()
NOTE = b'emi-arena/v1:j{"r":"%s","p":"BULLISH"}' % OPEN.round_id.encode()
CHANCES_NOTE = b'emi-arena/v2:j{"r":"%s","q":[60,25,15]}' % OPEN.round_id.encode()


def giving(q: bytes) -> Callable[[], BallotFile]:
    """Sign a note that gives these chances, as they are written."""
    return lambda: set_in_transaction(note=CHANCES_NOTE.replace(b"[60,25,15]", q))


TAMPERED: dict[str, tuple[Callable[[], BallotFile], Refusal]] = {
    "amount": (lambda: set_in_transaction(amt=1), Refusal.NOT_ZERO),
    "receiver": (lambda: set_in_transaction(rcv=bytes(range(32))), Refusal.OTHER_RECEIVER),
    "no receiver": (lambda: altered(lambda e: e["txn"].pop("rcv")), Refusal.OTHER_RECEIVER),
    "rekey": (lambda: set_in_transaction(rekey=bytes(range(32))), Refusal.REKEYS),
    "close": (lambda: set_in_transaction(close=bytes(range(32))), Refusal.CLOSES),
    "type": (lambda: set_in_transaction(type="axfer"), Refusal.NOT_A_PAYMENT),
    "unknown field": (lambda: set_in_transaction(zz=1), Refusal.UNKNOWN_FIELD),
    "float fee": (lambda: set_in_transaction(fee=1.5), Refusal.NOT_A_TRANSACTION),
    "bool fee": (lambda: set_in_transaction(fee=True), Refusal.NOT_A_TRANSACTION),
    "short sender": (lambda: set_in_transaction(snd=b"short"), Refusal.NOT_A_TRANSACTION),
    "other network": (VOTE.but(genesis=NETWORKS["mainnet"].genesis_hash).file, Refusal.OTHER_NETWORK),
    "no network": (lambda: altered(lambda e: e["txn"].pop("gh")), Refusal.OTHER_NETWORK),
    "no note": (lambda: altered(lambda e: e["txn"].pop("note")), Refusal.NOTE_FORM),
    "text note": (lambda: set_in_transaction(note=NOTE.decode()), Refusal.NOTE_FORM),
    "a word under the prefix of chances": (
        lambda: set_in_transaction(note=NOTE.replace(b"v1", b"v2")),
        Refusal.NOTE_FORM,
    ),
    "chances under the prefix of words": (
        lambda: set_in_transaction(note=CHANCES_NOTE.replace(b"v2", b"v1")),
        Refusal.NOTE_FORM,
    ),
    "a version to come": (lambda: set_in_transaction(note=CHANCES_NOTE.replace(b"v2", b"v3")), Refusal.NOTE_FORM),
    "chances of 101": (giving(b"[60,25,16]"), Refusal.CHANCES),
    "chances of 99": (giving(b"[60,25,14]"), Refusal.CHANCES),
    "101 chances": (giving(b"[" + b",".join([b"0"] * 100 + [b"100"]) + b"]"), Refusal.CHANCES),
    "four chances": (giving(b"[25,25,25,25]"), Refusal.CHANCES),
    "two chances": (giving(b"[50,50]"), Refusal.CHANCES),
    "no chances": (giving(b"[]"), Refusal.CHANCES),
    "a negative chance": (giving(b"[-10,60,50]"), Refusal.CHANCES),
    "minus zero": (giving(b"[-0,60,40]"), Refusal.NOTE_FORM),
    "a chance above 100": (giving(b"[120,-10,-10]"), Refusal.CHANCES),
    "a float": (giving(b"[55.0,30,15]"), Refusal.CHANCES),
    "an exponent": (giving(b"[1e2,0,0]"), Refusal.CHANCES),
    "no number": (giving(b"[NaN,60,40]"), Refusal.NOTE_FORM),
    "infinity": (giving(b"[Infinity,0,0]"), Refusal.NOTE_FORM),
    "booleans": (giving(b"[true,99,false]"), Refusal.CHANCES),
    "a chance as text": (giving(b'["60",25,15]'), Refusal.CHANCES),
    "null": (giving(b"[null,60,40]"), Refusal.CHANCES),
    "chances as text": (giving(b'"60,25,15"'), Refusal.CHANCES),
    "chances by name": (giving(b'{"up":60,"neutral":25,"down":15}'), Refusal.CHANCES),
    "nested chances": (giving(b"[[60,25,15]]"), Refusal.CHANCES),
    "half a surrogate pair": (
        lambda: set_in_transaction(note=b'emi-arena/v1:j{"r":"\\ud800","p":"BULLISH"}'),
        Refusal.NOTE_FORM,
    ),
    "deep chances": (giving(b"[" * 100 + b"]" * 100), Refusal.NOTE_FORM),
    "a number of 200 digits": (giving(b"[" + b"9" * 200 + b",0,0]"), Refusal.CHANCES),
    "a leading zero": (giving(b"[060,25,15]"), Refusal.NOTE_FORM),
    "spaced chances": (giving(b"[60, 25, 15]"), Refusal.NOTE_FORM),
    "chances and a word": (giving(b'[60,25,15],"p":"BULLISH"'), Refusal.NOTE_FORM),
    "chances twice": (giving(b'[60,25,15],"q":[60,25,15]'), Refusal.NOTE_FORM),
    "chances before their round": (
        lambda: set_in_transaction(note=b'emi-arena/v2:j{"q":[60,25,15],"r":"%s"}' % OPEN.round_id.encode()),
        Refusal.NOTE_FORM,
    ),
    "chances for a number": (
        lambda: set_in_transaction(note=b'emi-arena/v2:j{"r":7,"q":[60,25,15]}'),
        Refusal.NOTE_FORM,
    ),
    "chances for an escaped round": (
        lambda: set_in_transaction(note=CHANCES_NOTE.replace(b"BTC", b"\\u0042TC")),
        Refusal.NOTE_FORM,
    ),
    "another lease with chances": (
        lambda: set_in_transaction(note=CHANCES_NOTE, lx=lease_of(KEY_1, OPEN.round_id, 0)),
        Refusal.LEASE,
    ),
    "not json": (lambda: set_in_transaction(note=NOTE[:-1]), Refusal.NOTE_FORM),
    "third key": (lambda: set_in_transaction(note=NOTE[:-1] + b',"x":"y"}'), Refusal.NOTE_FORM),
    "double key": (lambda: set_in_transaction(note=NOTE[:-1] + b',"p":"BEARISH"}'), Refusal.NOTE_FORM),
    "list": (lambda: set_in_transaction(note=b'emi-arena/v1:j["r","p"]'), Refusal.NOTE_FORM),
    "number": (lambda: set_in_transaction(note=b"emi-arena/v1:j7"), Refusal.NOTE_FORM),
    "deep": (lambda: set_in_transaction(note=b"emi-arena/v1:j" + b"[" * 240), Refusal.NOTE_FORM),
    "garbage": (lambda: set_in_transaction(note=b"\xff" * 1024), Refusal.NOTE_FORM),
    "choice": (lambda: set_in_transaction(note=NOTE.replace(b"BULLISH", b"NONE")), Refusal.CHOICE),
    "choice's case": (lambda: set_in_transaction(note=NOTE.replace(b"BULLISH", b"bullish")), Refusal.CHOICE),
    "no such round": (VOTE.but(round_id="BTC-20261120-140000").file, Refusal.NO_SUCH_ROUND),
    "other asset": (VOTE.but(round_id="ETH-20261120-130000").file, Refusal.NO_SUCH_ROUND),
    "at the close": (VOTE.but(at_ms=OPEN.start_ms).file, Refusal.CLOSED),
    "signature bit": (
        lambda: altered(lambda e: e.update(sig=bytes([e["sig"][0] ^ 1]) + e["sig"][1:]), sign=False),
        Refusal.BAD_SIGNATURE,
    ),
    "another's name": (
        lambda: altered(lambda e: e["txn"].update(snd=base64.b64decode(voter(1))[32:])),
        Refusal.BAD_SIGNATURE,
    ),
    "a key that any signature fits": (
        lambda: altered(
            lambda e: (e["txn"].update(snd=b"\x01" + bytes(31)), e.update(sig=b"\x01" + bytes(63))), sign=False
        ),
        Refusal.BAD_SIGNATURE,
    ),
    "a genesis id of anything": (lambda: set_in_transaction(gen="ANY TEXT"), Refusal.OTHER_NETWORK),
    "a genesis id that is a number": (lambda: set_in_transaction(gen=5), Refusal.OTHER_NETWORK),
    "a genesis id as bytes": (lambda: set_in_transaction(gen=DEVNET.genesis_id.encode()), Refusal.OTHER_NETWORK),
    "another network's genesis id": (lambda: set_in_transaction(gen="mainnet-v1.0"), Refusal.OTHER_NETWORK),
    "a lease of anything": (lambda: set_in_transaction(lx=b"ANY 32 BYTES OF SOMETHING ELSE !"), Refusal.LEASE),
    "a long lease": (lambda: set_in_transaction(lx=b"x" * 100), Refusal.LEASE),
    "a lease as text": (lambda: set_in_transaction(lx="x" * 32), Refusal.LEASE),
    "another voter's lease": (lambda: set_in_transaction(lx=lease_of(KEY_1, OPEN.round_id, 0)), Refusal.LEASE),
    "another round's lease": (lambda: set_in_transaction(lx=lease_of(KEY_0, "BTC-1", 0)), Refusal.LEASE),
    "the lease of a 21st ballot": (
        lambda: set_in_transaction(lx=hashlib.sha256(LEASE + bytes([20])).digest()),
        Refusal.LEASE,
    ),
    "a group": (lambda: set_in_transaction(grp=b"ANY 32 BYTES OF SOMETHING ELSE !"), Refusal.UNKNOWN_FIELD),
    "a negative fee": (lambda: set_in_transaction(fee=-1), Refusal.NOT_A_TRANSACTION),
    "a spaced note": (lambda: set_in_transaction(note=NOTE.replace(b":", b" :\t")), Refusal.NOTE_FORM),
    "an escaped note": (lambda: set_in_transaction(note=NOTE.replace(b"BULL", b"\\u0042ULL")), Refusal.NOTE_FORM),
    "a fee in a file": (lambda: set_in_transaction(fee=1_000), Refusal.NOT_FREE),
    "rounds of validity in a file": (lambda: set_in_transaction(fv=2**62, lv=2**63), Refusal.NOT_FREE),
    "2700 letters": (lambda: set_in_transaction(gen="x" * 2_700), Refusal.TOO_LONG),
    "changed after signing": (
        lambda: altered(lambda e: e["txn"].update(note=NOTE.replace(b"BULLISH", b"BEARISH")), sign=False),
        Refusal.BAD_SIGNATURE,
    ),
    "multisig": (lambda: altered(lambda e: e.update(msig={"v": 1})), Refusal.MULTISIG),
    "logic": (lambda: altered(lambda e: e.update(lsig={"l": b"x"})), Refusal.LOGICSIG),
    "rekeyed signer": (lambda: altered(lambda e: e.update(sgnr=bytes(range(32)))), Refusal.REKEYED),
    "unsigned": (lambda: altered(lambda e: e.pop("sig")), Refusal.NOT_A_TRANSACTION),
    "short signature": (lambda: altered(lambda e: e.update(sig=b"x"), sign=False), Refusal.NOT_A_TRANSACTION),
    "extra envelope": (lambda: altered(lambda e: e.update(zz=1)), Refusal.NOT_A_TRANSACTION),
    "no transaction": (lambda: packed({"sig": b"x" * 64}), Refusal.NOT_A_TRANSACTION),
    "trailing bytes": (
        lambda: BallotFile("x", base64.b64encode(base64.b64decode(VOTE.file().data) + b"\0"), NOON),
        Refusal.NOT_A_TRANSACTION,
    ),
    "list instead": (lambda: BallotFile("x", base64.b64encode(b"\x90"), NOON), Refusal.NOT_A_TRANSACTION),
    "nested": (lambda: BallotFile("x", base64.b64encode(b"\x91" * 3000), NOON), Refusal.NOT_A_TRANSACTION),
    "huge claim": (lambda: BallotFile("x", base64.b64encode(b"\xdd\xff\xff\xff\xff"), NOON), Refusal.NOT_A_TRANSACTION),
    "empty": (lambda: BallotFile("x", b"", NOON), Refusal.NOT_A_TRANSACTION),
    "not base64": (lambda: BallotFile("x", b"\x00\xff not base64", NOON), Refusal.NOT_BASE64),
    "too large": (lambda: BallotFile("x", b"A" * 4097, NOON), Refusal.TOO_LARGE),
    "unreadable": (lambda: BallotFile("x", b"", NOON, Refusal.UNREADABLE), Refusal.UNREADABLE),
}


SIGNED = {
    "as it is": {},
    "with the network's id": {"gen": DEVNET.genesis_id},
    **{f"change {change}": {"lx": lease_of(KEY_0, OPEN.round_id, change)} for change in range(CHANGES)},
}


@pytest.mark.parametrize("fields", SIGNED.values(), ids=SIGNED.keys())
def test_a_ballot_may_name_its_network_and_carry_one_of_twenty_leases(fields: dict[str, object]) -> None:
    assert refusal_of(set_in_transaction(**fields)) is None


def test_a_lease_is_the_hash_of_voter_round_and_change() -> None:
    assert lease_of(KEY_0, OPEN.round_id, 7) == hashlib.sha256(LEASE + b"\x07").digest()
    with pytest.raises(ValueError, match="19 times"):
        lease_of(KEY_0, OPEN.round_id, 20)


def test_up_down_up_counts_as_up_by_three_transactions() -> None:
    said = (Prediction.BULLISH, Prediction.BEARISH, Prediction.BULLISH)
    files = [VOTE.but(choice=choice, change=n, at_ms=NOON + n).file() for n, choice in enumerate(said)]

    _, ballots = judge(files, POLL, none_known)

    assert len({ballot.txid for ballot in ballots}) == 3
    assert ballots[-1].choice is Prediction.BULLISH
    assert len(judge([files[0], files[1], VOTE.but(change=0).file()], POLL, none_known)[1]) == 2


def test_chances_count_for_their_largest_class_and_for_a_small_move_on_a_tie() -> None:
    given = [
        (60, 25, 15),
        (15, 25, 60),
        (20, 60, 20),
        (40, 20, 40),
        (40, 40, 20),
        (20, 40, 40),
        (100, 0, 0),
        (34, 33, 33),
    ]
    files = [VOTE.but(by=n, chances=Chances(*chances), at_ms=NOON + n).file() for n, chances in enumerate(given)]

    _, ballots = judge(files, POLL, none_known)

    up, down, small = Prediction.BULLISH, Prediction.BEARISH, Prediction.NEUTRAL
    assert [tuple(ballot.chances or ()) for ballot in ballots] == given
    assert [ballot.choice for ballot in ballots] == [up, down, small, small, small, small, up, up]


def test_a_word_then_chances_then_the_word_again_counts_as_the_word_by_three_ballots() -> None:
    votes = [VOTE.but(change=0), VOTE.but(change=1, chances=Chances(15, 25, 60)), VOTE.but(change=2)]
    files = [vote.but(at_ms=NOON + n).file() for n, vote in enumerate(votes)]

    _, ballots = judge(files, POLL, none_known)

    assert len({ballot.txid for ballot in ballots}) == 3
    assert (ballots[-1].choice, ballots[-1].chances) == (Prediction.BULLISH, None)


@pytest.mark.parametrize("form", [FIRST_FORM, WORDS_FORM])
@pytest.mark.parametrize("confirmed", [False, True])
def test_a_round_that_was_sealed_before_chances_takes_words_alone(form: int, confirmed: bool) -> None:
    poll = replace(POLL, forms={OPEN.round_id: form})
    given = replace(VOTE.but(chances=Chances(60, 25, 15)).file(), confirmed=confirmed)

    assert refusal_of(given, poll) == Refusal.WORDS_ALONE
    assert refusal_of(replace(VOTE.file(), confirmed=confirmed), poll) is None
    assert refusal_of(given) is None


def test_a_round_of_the_first_form_takes_what_its_time_took() -> None:
    poll = replace(POLL, forms={OPEN.round_id: FIRST_FORM})

    assert refusal_of(set_in_transaction(gen="x" * 900, lx=b"random", fee=1_000), poll) is None
    assert refusal_of(VOTE.but(change=3).file(), poll) is None


def test_on_chain_a_fee_and_rounds_are_the_networks_and_nothing_else_is_free() -> None:
    paid = {"fee": 1_000, "fv": 77_000, "lv": 78_000}
    confirmed = [replace(set_in_transaction(**paid, **more), confirmed=True) for more in ({}, {"lx": b"x" * 32})]

    given = replace(set_in_transaction(**paid, note=CHANCES_NOTE), confirmed=True)

    assert [refusal_of(file) for file in (*confirmed, given)] == [None, Refusal.LEASE, None]


@pytest.mark.parametrize("case", TAMPERED)
def test_a_tampered_ballot_is_refused_by_name(case: str) -> None:
    make, refusal = TAMPERED[case]

    assert refusal_of(make()) == refusal.value


def test_the_table_shows_every_refusal() -> None:
    shown = {refusal for _, refusal in TAMPERED.values()} | {Refusal.REPEATED, Refusal.OTHER_ASSET}
    shown |= {Refusal.SEEN_LATE, Refusal.READ_LATE, Refusal.WORDS_ALONE, Refusal.RANGES}  # below

    assert shown == set(Refusal)


@pytest.mark.parametrize(
    ("phase", "refusal"),
    [
        (RoundPhase.SCHEDULED, Refusal.CLOSED),
        (RoundPhase.LIVE, Refusal.READ_LATE),
        (RoundPhase.RESOLVED, Refusal.READ_LATE),
        (RoundPhase.VOID, Refusal.CLOSED),
    ],
)
def test_only_an_open_round_takes_votes(phase: RoundPhase, refusal: Refusal) -> None:
    poll = replace(POLL, rounds={OPEN.round_id: replace(OPEN, phase=phase)})

    assert refusal_of(VOTE.file(), poll) == refusal


def test_a_ballot_confirmed_in_time_and_seen_after_the_lock_is_named_so() -> None:
    poll = replace(POLL, rounds={OPEN.round_id: replace(OPEN, phase=RoundPhase.LIVE)})

    assert refusal_of(replace(VOTE.file(), confirmed=True), poll) == Refusal.SEEN_LATE
    late = replace(VOTE.but(at_ms=OPEN.start_ms).file(), confirmed=True)
    assert refusal_of(late, replace(poll, now_ms=OPEN.start_ms + 1)) == Refusal.CLOSED


def test_a_round_whose_asset_is_not_its_names_takes_no_votes() -> None:
    poll = replace(POLL, rounds={OPEN.round_id: replace(OPEN, asset="ETH")})

    assert refusal_of(VOTE.file(), poll) == Refusal.OTHER_ASSET


def test_the_tick_at_the_start_still_counts_what_arrived_before() -> None:
    poll = replace(POLL, now_ms=OPEN.start_ms + 30_000)

    assert refusal_of(VOTE.but(at_ms=OPEN.start_ms - 1).file(), poll) is None


def test_a_file_dated_in_the_future_counts_as_arrived_now() -> None:
    poll = replace(POLL, now_ms=NOON + MINUTE)

    assert judge([VOTE.but(at_ms=NOON + 9 * HOUR).file()], poll, none_known)[1][0].arrived_ms == NOON + MINUTE


def test_a_repeated_ballot_is_refused_also_under_another_name() -> None:
    file = VOTE.file()
    again = replace(file, name="copy", arrived_ms=NOON + 1)

    in_one_tick = judge([again, file], POLL, none_known)
    later = judge([file], POLL, lambda txids: txids)

    assert [verdict.reason for verdict in in_one_tick[0]] == [None, Refusal.REPEATED]
    assert ([verdict.reason for verdict in later[0]], later[1]) == ([Refusal.REPEATED], ())


def test_the_order_of_the_files_does_not_matter() -> None:
    files = [
        VOTE.but(by=number % 3, choice=choice, at_ms=NOON + number // 4).file()
        for number in range(12)
        for choice in Prediction
    ]
    shuffled = list(files)
    random.Random(5).shuffle(shuffled)

    assert judge(files, POLL, none_known)[1] == judge(shuffled, POLL, none_known)[1]


def test_the_arena_address_is_the_hash_of_a_text_and_a_valid_address() -> None:
    assert key_of(DEMO_ARENA) == hashlib.new("sha512_256", b"emi-arena-v1").digest()
