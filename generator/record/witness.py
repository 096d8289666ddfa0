"""The log's side of C2SP tlog-witness: witnesses are asked to sign each new head, never in the way of a tick."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Final

import aiohttp
import structlog

from gateway.wire.outgoing import proxy_for
from generator.errors import GeneratorError
from generator.record.log.cosignatures import times_of
from generator.record.log.note import NoteError, other_lines, signatures_of
from generator.record.log.policy import Policy, PolicyError, Witness, read_policy

TIMEOUT_S: Final = 5.0
LARGEST_ANSWER: Final = 65_536
MOST_LINES: Final = 4  # of one witness: a key of each kind, and an old one of each
SIZE_TYPE: Final = "text/x.tlog.size"

Extension = Callable[[int], Sequence[bytes]]  # an earlier size -> the proof that the published log extends it
log = structlog.get_logger("emi.witness")


class WitnessError(Exception):
    """A witness did not sign; the message says why."""


class BehindError(WitnessError):
    """A witness saw another size of the log last."""

    def __init__(self, size: int) -> None:
        super().__init__(f"it saw {size} entries last")
        self.size = size


def policy_of(path: Path) -> Policy:
    """Read the policy of a file; raise GeneratorError where it cannot be used."""
    try:
        policy = read_policy(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except OSError as error:
        raise GeneratorError(f"witness policy {path} cannot be read: {error.strerror or error}") from error
    except PolicyError as error:
        raise GeneratorError(f"witness policy {path}: {error}") from error

    for witness in policy.witnesses.values():
        if witness.url and not witness.url.startswith(("https://", "http://")):
            raise GeneratorError(f"witness policy {path}: the URL of {witness.name} is not http(s)")
    return policy


class Witnesses:
    """The witnesses of a policy that have a URL.

    Each is asked once about each head; one that does not answer is asked again with the next release, until one of
    them has signed. At most one asking runs at a time.

    Args:
        keep: takes a head as it was signed, so that it outlasts the process.
        extension: proves that the published log extends what a witness saw.
    """

    def __init__(
        self,
        policy: Policy,
        keep: Callable[[bytes], None],
        extension: Extension,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._policy = policy
        self._asked = [witness for witness in policy.witnesses.values() if witness.url]
        self._keep = keep
        self._extension = extension
        self._timeout_s = timeout_s

        self._seen: dict[str, int] = {}  # by witness, the size of the head that it signed last
        self._failing: set[str] = set()
        self._since: dict[str, float] = {}  # by witness that did not sign, wall time at which that was first seen
        self.ahead: dict[str, str] = {}  # by witness that saw more entries than the log has, what it saw
        self._signed = 0  # size of the newest head that one of them signed
        self._task: asyncio.Task[None] | None = None

    def ask(self, head: bytes, size: int) -> None:
        """Ask about the head that was published, in the background; nothing to do where one of them signed it."""
        is_running = self._task is not None and not self._task.done()
        if not self._asked or size <= self._signed or is_running:
            return
        self._task = asyncio.create_task(self._ask_all(head, size))

    def unsigned(self, now: float) -> dict[str, float]:
        """Return since when each witness that did not sign the last head has not, in Unix seconds."""
        self._since = {name: self._since.get(name, now) for name in self._failing}
        return dict(self._since)

    async def aclose(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _ask_all(self, head: bytes, size: int) -> None:
        timeout = aiohttp.ClientTimeout(total=self._timeout_s)
        async with aiohttp.ClientSession(timeout=timeout, cookie_jar=aiohttp.DummyCookieJar()) as session:
            answers = await asyncio.gather(*(self._signature(session, witness, head, size) for witness in self._asked))

        lines = b"".join(answers)
        if not lines:
            return
        try:
            self._keep(head + lines)
        except (GeneratorError, ValueError) as error:
            log.warning("the signatures of witnesses are not kept", reason=str(error))
            return
        self._signed = size

    async def _signature(self, session: aiohttp.ClientSession, witness: Witness, head: bytes, size: int) -> bytes:
        """Return the lines that one witness signed a head with; none, and a log line, where it did not."""
        try:
            lines = await self._add_checkpoint(session, witness, head, size)
        except (WitnessError, aiohttp.ClientError, TimeoutError, OSError, NoteError, ValueError) as error:
            if witness.name not in self._failing:
                log.warning("a witness did not sign", witness=witness.name, reason=str(error) or type(error).__name__)
            self._failing.add(witness.name)
            return b""

        if witness.name in self._failing:
            log.info("the witness signs again", witness=witness.name)
        self._failing.discard(witness.name)
        self.ahead.pop(witness.name, None)
        self._seen[witness.name] = size
        return lines

    async def _add_checkpoint(self, session: aiohttp.ClientSession, witness: Witness, head: bytes, size: int) -> bytes:
        """Submit a head, a second time where the witness knows another size of the log."""
        try:
            return await self._submit(session, witness, head, self._seen.get(witness.name, 0))
        except BehindError as behind:
            if behind.size > size:
                self.ahead[witness.name] = f"it saw {behind.size} entries of this log, which has {size}"
                raise WitnessError(f"it saw {behind.size} entries of this log, which has {size}") from None
            return await self._submit(session, witness, head, behind.size)

    async def _submit(self, session: aiohttp.ClientSession, witness: Witness, head: bytes, old: int) -> bytes:
        proof = "".join(f"{base64.b64encode(value).decode()}\n" for value in self._extension(old))
        body = f"old {old}\n{proof}\n".encode() + head
        url = f"{witness.url.rstrip('/')}/add-checkpoint"

        async with session.post(url, data=body, allow_redirects=False, proxy=proxy_for(url)) as answer:
            text = await _read(answer)
            if answer.status == HTTPStatus.CONFLICT and answer.content_type == SIZE_TYPE:
                raise BehindError(_size_of(text))
            if answer.status != HTTPStatus.OK:
                raise WitnessError(f"it answered {answer.status}")
        return self._lines_of(witness, head, text)

    @staticmethod
    def _lines_of(witness: Witness, head: bytes, text: bytes) -> bytes:
        """Return the lines of an answer that are the witness's own.

        The signature of a key that counts must hold; those of other kinds are kept, since readers may know them.
        """
        _, before = signatures_of(head)
        _, after = signatures_of(head + text)
        own = [name for name, _, _ in after[len(before) :] if name == witness.key_name]
        if not own or len(own) > MOST_LINES:
            raise WitnessError("its answer has no signature of its own")
        if witness.key is not None and witness.key_name not in times_of(head + text, [witness.key]):
            raise WitnessError("its signature does not hold")

        kept = other_lines(head + text, "").splitlines(keepends=True)[len(before) :]
        return b"".join(line for line in kept if line.decode().split(" ")[1] == witness.key_name)


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    """Read an answer to its end, in however many pieces it comes."""
    text = bytearray()
    async for piece in answer.content.iter_any():
        text += piece
        if len(text) > LARGEST_ANSWER:
            raise WitnessError("its answer is too large")
    return bytes(text)


def _size_of(text: bytes) -> int:
    try:
        return int(text.decode("ascii").strip())
    except ValueError:
        raise WitnessError("it names no size") from None
