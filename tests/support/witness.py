"""A witness written from C2SP tlog-witness and RFC 9162 alone, on a socket of this process; it shares no code."""

import asyncio
import base64
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey


def vkey(name: str, kind: bytes, public: bytes) -> str:
    key_id = hashlib.sha256(name.encode() + b"\n" + kind + public).hexdigest()[:8]
    return f"{name}+{key_id}+{base64.b64encode(kind + public).decode()}"


def is_extension(old: int, old_root: bytes, new: int, new_root: bytes, proof: list[bytes]) -> bool:
    """RFC 9162, section 2.1.4.2."""
    if old in {0, new}:
        return not proof and (old == 0 or old_root == new_root)
    if not proof:
        return False
    if old & (old - 1) == 0:
        proof = [old_root, *proof]
    fn, sn = old - 1, new - 1
    while fn & 1:
        fn >>= 1
        sn >>= 1
    fr = sr = proof[0]
    for value in proof[1:]:
        if sn == 0:
            return False
        if fn & 1 or fn == sn:
            fr = hashlib.sha256(b"\x01" + value + fr).digest()
            sr = hashlib.sha256(b"\x01" + value + sr).digest()
            while fn and not fn & 1:
                fn >>= 1
                sn >>= 1
        else:
            sr = hashlib.sha256(b"\x01" + sr + value).digest()
        fn >>= 1
        sn >>= 1
    return fr == old_root and sr == new_root and sn == 0


@dataclass
class IndependentWitness:
    """What one witness knows: the log's key, the last head of it, and its own clock."""

    log_key: str
    name: str = "witness.example/one"
    key: SigningKey = field(default_factory=SigningKey.generate)
    seen: tuple[int, bytes] = (0, b"")
    now: int | None = None  # None: the machine's
    answers: list[int] = field(default_factory=list)
    url: str = ""
    in_pieces: bool = False  # whether an answer comes in two

    @property
    def vkey(self) -> str:
        return vkey(self.name, b"\x04", bytes(self.key.verify_key))

    async def add_checkpoint(self, request: web.Request) -> web.StreamResponse:
        status, text, kind = self._judge(await request.read())
        self.answers.append(status)
        if not self.in_pieces:
            return web.Response(status=status, body=text, content_type=kind)

        answer = web.StreamResponse(status=status, headers={"Content-Type": kind})
        await answer.prepare(request)
        for piece in (text[:20], text[20:]):
            await answer.write(piece)
            await asyncio.sleep(0.02)  # so that it is a segment of its own
        return answer

    def _judge(self, body: bytes) -> tuple[int, bytes, str]:  # noqa: PLR0911  one return a rule of the specification
        plain = "text/plain"
        head, _, note = body.decode().partition("\n\n")
        old_line, *lines = head.split("\n")
        text, _, signatures = note.rpartition("\n\n")
        text += "\n"
        origin, size, root = text.split("\n")[:3]
        old = int(old_line.removeprefix("old "))

        log_name, log_id, encoded = self.log_key.split("+", 2)
        if origin != log_name:
            return 404, b"", plain
        if not any(self._signed(line, log_name, log_id, encoded, text) for line in signatures.splitlines()):
            return 403, b"", plain
        if old > int(size):
            return 400, b"", plain
        if old != self.seen[0]:
            return 409, f"{self.seen[0]}\n".encode(), "text/x.tlog.size"
        new_root = base64.b64decode(root)
        if old == int(size) and new_root != self.seen[1]:
            return 409, b"", plain
        if not is_extension(old, self.seen[1], int(size), new_root, [base64.b64decode(line) for line in lines]):
            return 422, b"", plain

        self.seen = (int(size), new_root)
        return 200, self.line(text), plain

    @staticmethod
    def _signed(line: str, name: str, key_id: str, encoded: str, text: str) -> bool:
        _, signer, data = line.split(" ")
        signature = base64.b64decode(data)
        if (signer, signature[:4].hex()) != (name, key_id):
            return False
        try:
            VerifyKey(base64.b64decode(encoded)[1:]).verify(text.encode(), signature[4:])
        except BadSignatureError:
            return False
        return True

    def line(self, text: str) -> bytes:
        """Return the cosignature of a checkpoint's text."""
        now = int(time.time()) if self.now is None else self.now
        signature = self.key.sign(f"cosignature/v1\ntime {now}\n{text}".encode()).signature
        data = bytes.fromhex(self.vkey.split("+")[1]) + now.to_bytes(8, "big") + signature
        return f"\N{EM DASH} {self.name} {base64.b64encode(data).decode()}\n".encode()


@asynccontextmanager
async def served(witness: IndependentWitness) -> AsyncIterator[IndependentWitness]:
    """Serve a witness on loopback."""
    app = web.Application()
    app.router.add_post("/add-checkpoint", witness.add_checkpoint)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address = runner.addresses[0]
        witness.url = f"http://{address[0]}:{address[1]}"
        yield witness
    finally:
        await runner.cleanup()
