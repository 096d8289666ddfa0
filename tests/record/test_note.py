"""Notes and checkpoints by C2SP, with a published note and key of the Go checksum database's documentation."""

import pytest

from generator.record.log.note import Checkpoint, NoteError, Signer, Verifier, open_note
from generator.record.log.tiles import EMPTY_ROOT

SIGNER = Signer("example.org/log", bytes(range(32)))
HEAD = Checkpoint("example.org/log", 3, bytes(32))
NOTE = HEAD.signed([SIGNER])

# From the documentation of golang.org/x/mod/sumdb/note: a public vector that another implementation made.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)


def test_a_note_of_another_implementation_opens() -> None:
    assert open_note(GO_NOTE.encode(), [Verifier.parse(GO_KEY)]).startswith("If you think")


def test_the_empty_log_has_a_checkpoint() -> None:
    empty = Checkpoint("example.org/log", 0, EMPTY_ROOT)

    assert Checkpoint.open(empty.signed([SIGNER]), [SIGNER.verifier]).size == 0


def test_a_signer_never_shows_its_key() -> None:
    assert SIGNER.text.rsplit("+", 1)[1] not in repr(SIGNER)


@pytest.mark.parametrize(
    "note",
    [
        b"",
        b"\xff",
        NOTE.replace(b"\n\n", b"\n"),
        NOTE[:-1],
        NOTE.replace(b"\n3\n", b"\n03\n"),
        NOTE + b"no signature\n",
        NOTE.replace(b"example.org/log\n3", b"example.org/log\r\n3"),
        NOTE + NOTE.split(b"\n\n")[1] * 16,
        b"x" * 70_000 + NOTE,
    ],
)
def test_an_invalid_signed_checkpoint_is_refused(note: bytes) -> None:
    with pytest.raises(NoteError):
        Checkpoint.open(note, [SIGNER.verifier])


@pytest.mark.parametrize("text", ["origin\n3\n", "origin\n-1\nAAAA\n", "origin\n3\nAAAA\n", "\n3\nAAAA\n", "o\n3\n?\n"])
def test_a_text_of_another_form_is_not_a_checkpoint(text: str) -> None:
    with pytest.raises(NoteError):
        Checkpoint.parse(text)


@pytest.mark.parametrize("text", ["", "a+b", "a b+00000000+AQ==", "name+00000000+AQ==", GO_KEY.replace("c74f", "c74e")])
def test_an_invalid_public_key_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        Verifier.parse(text)


@pytest.mark.parametrize("name", ["", "two words", "a+b"])
def test_a_name_that_no_note_could_carry_is_refused(name: str) -> None:
    with pytest.raises(NoteError):
        Signer.generate(name)


@pytest.mark.parametrize(
    "line",
    [
        "x example.org AAAAAAA=",  # no dash
        "— example.org",  # no signature
        "—  AAAAAAA=",  # no name
        "— example.org AAAAAA==",  # a key's id and nothing after it
        "— example.org not base64",
    ],
)
def test_a_malformed_signature_line_is_refused_next_to_one_that_holds(line: str) -> None:
    note = NOTE + line.encode() + b"\n"

    with pytest.raises(NoteError, match=r"malformed|base64"):
        open_note(note, [SIGNER.verifier])
