"""Forged proofs of a forecast, for docs/howto/check_proof.py to refuse: `python -m tests.proofs [COUNT]`, else 1,000.

A third each: altered (a character), late (the witness saw it after the start), forked (the operator, who has the log's
key, changes forecast, seal and head, and takes the cosignatures of the honest head, of a stranger, or none).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import importlib.util
import io
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from generator.arena.published import digest_of
from generator.record.keys import read_keys
from generator.record.log.note import Checkpoint
from generator.record.log.proofs import root_from_inclusion
from generator.record.log.tiles import leaf_hash
from generator.record.proof import ForecastProof
from tests.record.test_witness import CHECKER, SECOND, log_key, proved
from tests.support.arena_inputs import NOON, hours
from tests.support.log_records import Record
from tests.support.witness import IndependentWitness

COUNT: Final = 1_000
MONTH_S: Final = 30 * 86_400


def altered(data: bytes, chance: random.Random) -> bytes:
    """Return a proof with one character changed that says something: not in the extra data, which seals itself."""
    text = data.decode()
    while True:
        place = chance.randrange(text.index("index "), len(text))
        other = chance.choice("ABCDEFabcdef0123456789")
        if text[place] not in "\n " and text[place] != other and not is_padding(text, place):
            return (text[:place] + other + text[place + 1 :]).encode()


def is_padding(text: str, place: int) -> bool:
    """Say whether a character is the last before or within base64's padding, whose spare bits say nothing."""
    return text[place] == "=" or text[place + 1 : place + 2] == "="


class Forger:
    """Makes proofs that must be refused of one honest proof.

    Args:
        record: whose key the operator has.
        witness: who saw the honest head.
        honest: the proof.
    """

    def __init__(self, record: Record, witness: IndependentWitness, honest: ForecastProof) -> None:
        self._signers = read_keys(record.key_file)
        self._witness = witness
        self._honest = honest
        self._stranger = IndependentWitness(log_key(record), witness.name)

        head, _, note = honest.data.decode().partition("\n\n")
        self._first, extra, self._index, *self._path = head.split("\n")
        self._extra: dict[str, Any] = json.loads(base64.b64decode(extra.removeprefix("extra ")))
        text, _, signatures = note.rpartition("\n\n")
        self._text = f"{text}\n"
        self._log_line = signatures.splitlines()[0] + "\n"

    def make(self, kind: str, dice: random.Random) -> bytes:
        """Make one of a kind."""
        return {"altered": self._altered, "late": self._late, "forked": self._forked}[kind](dice)

    def _altered(self, dice: random.Random) -> bytes:
        return altered(self._honest.data, dice)

    def _late(self, dice: random.Random) -> bytes:
        self._witness.now = self._honest.start + dice.randrange(MONTH_S)
        return self._proof(self._extra, self._text, self._log_line + self._witness.line(self._text).decode())

    def _forked(self, dice: random.Random) -> bytes:
        forecast = json.loads(json.dumps(self._extra["forecast"]))
        chances = forecast["probabilities"]
        values = list(chances.values())
        dice.shuffle(values)
        forecast["probabilities"] = dict(zip(chances, values, strict=True))
        salt = f"{dice.getrandbits(256):064x}"
        sealed = {**json.loads(self._extra["entry"]), "commitment": digest_of(forecast, salt)}
        extra = {"entry": json.dumps(sealed, separators=(",", ":")), "forecast": forecast, "salt": salt}

        # The head that this entry leads to, signed with the log's own key.
        size = int(self._text.split("\n")[1])
        path = [base64.b64decode(line) for line in self._path]
        index = int(self._index.removeprefix("index "))
        root = root_from_inclusion(leaf_hash(extra["entry"].encode()), index, size, path)
        head = Checkpoint(self._text.split("\n")[0], size, root)
        self._stranger.now = self._witness.now = self._honest.start - 60
        cosigned = dice.choice((self._witness.line(self._text), self._stranger.line(head.text), b"")).decode()
        signed = head.signed(self._signers).decode().removeprefix(f"{head.text}\n")
        return self._proof(extra, head.text, signed + cosigned)

    def _proof(self, extra: dict[str, Any], text: str, signatures: str) -> bytes:
        packed = base64.b64encode(json.dumps(extra, separators=(",", ":")).encode()).decode()
        lines = "\n".join((self._first, f"extra {packed}", self._index, *self._path))
        return f"{lines}\n\n{text}\n{signatures}".encode()


def load_checker() -> Any:
    """Load the program of the docs, which uses no code of ours."""
    spec = importlib.util.spec_from_file_location("check_proof", CHECKER)
    assert spec is not None
    assert spec.loader is not None
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    return checker


def refusals(count: int, folder: Path) -> Counter[str]:
    """Check so many forged proofs and the honest one; count what was refused, by kind, and why where it was not."""
    record = Record(folder / "record")
    record.play(hours(NOON, 1))
    record.publish()
    witness, honest = asyncio.run(proved(record, NOON // SECOND + 60))
    forger, checker = Forger(record, witness, honest), load_checker()
    file, keys, found = folder / "proof", (log_key(record), "1", witness.vkey), Counter[str]()

    def is_taken(data: bytes) -> bool:
        file.write_bytes(data)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit, Exception):
            checker.main(str(file), *keys)
            return True
        return False

    found["the honest one taken"] = is_taken(honest.data)
    dice = random.Random(26)
    for number in range(count):
        kind = ("altered", "late", "forked")[number % 3]
        found[f"{kind} taken" if is_taken(forger.make(kind, dice)) else f"{kind} refused"] += 1
    return found


def main() -> int:
    """Print the counts; 1 if a forged proof was taken or the honest one was not."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as folder:
        found = refusals(count, Path(folder))
    print(dict(found))
    refused = sum(number for name, number in found.items() if name.endswith("refused"))
    return 0 if refused == count and found["the honest one taken"] else 1


if __name__ == "__main__":
    sys.exit(main())
