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
    assert repr(SIGNER) == "Signer(example.org/log)"


def test_a_key_s_line_reads_back_as_that_key() -> None:
    made = Signer.generate("example.org/log")

    again = Signer.parse(f"{made.text}\n")

    assert again.verifier == made.verifier
    assert Verifier.parse(f"{made.verifier.text}\n") == made.verifier
    assert again.derive("a purpose") == made.derive("a purpose") != made.derive("another")
    assert len(made.derive("a purpose")) == 64


SIGNATURE = NOTE.split(b"\n\n")[1]
NO_LINE = "a checkpoint has three lines"
NO_HEAD = "a checkpoint's second line is a size, its third a hash"
NO_SIGNATURE = "a note has no signatures"


def signed(text: str) -> bytes:
    return f"{text}\n{SIGNER.line(text)}".encode()


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (b"", NO_SIGNATURE),
        (b"\xff", "a note is not UTF-8"),
        (NOTE.replace(b"\n\n", b"\n"), NO_SIGNATURE),
        (NOTE[:-1], NO_SIGNATURE),
        (NOTE.replace(b"\n3\n", b"\n03\n"), "the signature of example.org/log does not hold"),
        (NOTE + b"no signature\n", "that is not base64"),
        (NOTE.replace(b"example.org/log\n3", b"example.org/log\r\n3"), "a note has control characters"),
        (NOTE + SIGNATURE * 100, "a note has too many signatures"),
        (b"x" * 1_000_000 + NOTE, "a note is too large"),
        (HEAD.signed([Signer.generate("example.org/log")]), "no trusted key signed this note"),
        (HEAD.signed([Signer("example.org/other", bytes(range(32)))]), "no trusted key signed this note"),
        (signed(HEAD.text.replace("\n3\n", "\n03\n")), NO_HEAD),
        (signed(HEAD.text.replace("\n3\n", f"\n1{'0' * 19}\n")), NO_HEAD),
        (signed("example.org/log\n3\nAAAA\n"), NO_HEAD),
        (signed("example.org/log\n3\n"), NO_LINE),
        (signed(f"{HEAD.text}\nmore\n"), NO_LINE),
    ],
)
def test_an_invalid_signed_checkpoint_is_refused_with_its_reason(note: bytes, reason: str) -> None:
    with pytest.raises(NoteError) as caught:
        Checkpoint.open(note, [SIGNER.verifier])

    assert str(caught.value) == reason


def test_a_hundred_signatures_and_a_million_bytes_are_not_too_much() -> None:
    longest = "x" * (1_000_000 - len(SIGNER.line("").encode()) - 2) + "\n"

    assert Checkpoint.open(NOTE + SIGNATURE * 99, [SIGNER.verifier]) == HEAD
    assert len(signed(longest)) == 1_000_000
    assert open_note(signed(longest), [SIGNER.verifier]) == longest


def test_lines_after_the_third_and_a_size_of_19_digits_are_a_checkpoint() -> None:
    largest = Checkpoint("example.org/log", 10**18, bytes(32))

    assert Checkpoint.parse(f"{HEAD.text}of another version\n") == HEAD
    assert Checkpoint.parse(largest.text) == largest


KEY = SIGNER.text.rsplit("+", 1)[1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "this is not a private key of a log"),
        (f"PRIVATE+key+name+00000000+{KEY}", "this is not a private key of a log"),
        (f"PRIVATE+KEY+name+{KEY.replace('+', '/')}", "a private key has the form name+hash+key"),
        (f"PRIVATE+KEY+two words+00000000+{KEY}", "a key's name is not empty and has neither spaces nor a plus"),
        (f"PRIVATE+KEY+name+00000000+?{KEY}", "that is not base64"),
        ("PRIVATE+KEY+name+00000000+AQ==", "this private key is not an Ed25519 key of a log"),
        (f"PRIVATE+KEY+name+00000000+Ag{KEY[2:]}", "this private key is not an Ed25519 key of a log"),
        (f"PRIVATE+KEY+name+0000000+{KEY}", "this private key is not an Ed25519 key of a log"),
    ],
)
def test_an_invalid_private_key_is_refused_with_its_reason_alone(text: str, reason: str) -> None:
    with pytest.raises(NoteError) as caught:
        Signer.parse(text)

    assert str(caught.value) == reason


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
        "example.org AAAAAAA=",  # likewise
        "— example.org",  # no signature
        "—  AAAAAAA=",  # no name
        "— example.org AAAAAA==",  # a key's id and nothing after it
        "— example.org not base64",
    ],
)
def test_a_malformed_signature_line_is_refused_next_to_one_that_holds(line: str) -> None:
    note = NOTE + line.encode() + b"\n"

    with pytest.raises(NoteError) as caught:
        open_note(note, [SIGNER.verifier])

    assert str(caught.value) in {"a note's signature line is malformed", "that is not base64"}


def test_a_signature_of_one_byte_by_another_key_is_passed_over() -> None:
    assert open_note(NOTE + "— example.org AAAAAAA=\n".encode(), [SIGNER.verifier]) == HEAD.text


def test_the_signatures_of_others_are_passed_over_but_for_none_that_fails() -> None:
    other = Signer.generate("example.org/witness")
    of_another_text = SIGNER.line("another text\n")

    assert open_note(HEAD.signed([other, SIGNER]), [SIGNER.verifier]) == HEAD.text
    assert open_note(HEAD.signed([SIGNER, other]), [other.verifier, SIGNER.verifier]) == HEAD.text
    with pytest.raises(NoteError, match="does not hold"):
        open_note(NOTE + of_another_text.encode(), [SIGNER.verifier])
