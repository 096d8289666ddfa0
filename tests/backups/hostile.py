"""What somebody who can write to a target makes of a backup there: archives, manifests and files, each a row.

An attacker can compute every digest and size again, and does so here; what he lacks is the key that signs.
"""

import gzip
import hashlib
import io
import json
import os
import sqlite3
import tarfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyrage

ARCHIVES: Final = {"inbox", "once", "settings", "exports"}
Entry = tuple[tarfile.TarInfo, bytes]


@dataclass
class Attacked:
    """A backup in a folder under an attacker's hands.

    Args:
        folder: of the backup.
        settings: the folder of settings that the machine names, without the slash in front.
        recipient: public key for which the backup's keys are encrypted.
    """

    folder: Path
    settings: str
    recipient: str
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.manifest = json.loads((self.folder / "manifest.json").read_bytes())

    def part(self, holds: str) -> dict[str, Any]:
        """Return what the manifest says of a part; added where it has none."""
        for part in self.manifest["parts"]:
            if part["holds"] == holds:
                return dict_of(part)
        part = {**self.manifest["parts"][0], "holds": holds, "file": f"{holds}.tar.gz"}
        self.manifest["parts"].append(part)
        return dict_of(part)

    def say(self, of: str, **values: Any) -> None:
        """Change what the manifest says of a part."""
        self.part(of).update(values)
        self.write()

    def tell(self, **values: Any) -> None:
        """Change what the manifest says."""
        self.manifest.update(values)
        self.write()

    def write(self) -> None:
        """Write the manifest, as it is signed: with a signature that does not fit any more."""
        (self.folder / "manifest.json").write_text(json.dumps(self.manifest, indent=1))

    def put(self, holds: str, data: bytes, plain: int | None = None) -> None:
        """Put other bytes in the place of a part, with size and digest to fit."""
        part = self.part(holds)
        (self.folder / part["file"]).write_bytes(data)
        size = {} if plain is None or self.manifest["format"] == 1 else {"plain": plain}
        self.say(holds, bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), **size)

    def pack(self, holds: str, *entries: Entry, form: int = tarfile.PAX_FORMAT) -> None:
        """Put an archive of files in the place of a part."""
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=form) as archive:
            for member, data in entries:
                archive.addfile(member, io.BytesIO(data))
        self.put_plain(holds, packed.getvalue())

    def put_plain(self, holds: str, plain: bytes) -> None:
        """Put an archive, given unpacked, in the place of a part."""
        packed = gzip.compress(plain, 1)
        if holds == "keys":
            packed = pyrage.encrypt(packed, [pyrage.x25519.Recipient.from_str(self.recipient)])
        self.put(holds, packed, len(plain))


def dict_of(part: Any) -> dict[str, Any]:
    assert isinstance(part, dict)
    return part


def entry(name: str, data: bytes = b"evil", **values: Any) -> Entry:
    """Return a file of an archive."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    member.mode = 0o644
    for key, value in values.items():
        setattr(member, key, value)
    return member, data


def setting(attacked: Attacked, name: str = "evil.env", data: bytes = b"evil", **values: Any) -> None:
    """Put one file among the settings."""
    attacked.pack("settings", entry(f"{attacked.settings}/{name}", data, **values))


def link(attacked: Attacked, kind: bytes, goal: str) -> None:
    setting(attacked, data=b"", type=kind, linkname=goal)


def device(attacked: Attacked, kind: bytes) -> None:
    setting(attacked, data=b"", type=kind, devmajor=1, devminor=5)


def header(member: tarfile.TarInfo) -> bytes:
    """Write a header as it is, whatever it claims."""
    return member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def size_below_zero(attacked: Attacked) -> None:
    member, _ = entry(f"{attacked.settings}/evil.env", size=-1024)
    attacked.put_plain("settings", header(member) + bytes(2048))


def sparse_of_a_terabyte(attacked: Attacked) -> None:
    member, _ = entry(f"{attacked.settings}/evil.env", b"", type=tarfile.GNUTYPE_SPARSE)
    raw = bytearray(header(member))
    raw[483:495] = b"\x80" + (1 << 40).to_bytes(11, "big")  # its size with the holes
    raw[148:156] = b" " * 8
    raw[148:156] = b"%06o\0 " % sum(raw[:512])
    attacked.put_plain("settings", bytes(raw) + bytes(2048))


def header_of_a_gigabyte(attacked: Attacked) -> None:
    member, _ = entry("x", b"", type=tarfile.XHDTYPE, size=1 << 30)
    attacked.put_plain("settings", header(member) + bytes(8 << 20))


def thousands_of_headers(attacked: Attacked) -> None:
    line = b"15 comment=abc\n"
    member, _ = entry("x", line, type=tarfile.XHDTYPE)
    attacked.put_plain("settings", (header(member) + line.ljust(512, b"\0")) * 5_000 + bytes(1024))


def pax(attacked: Attacked, **fields: str) -> None:
    setting(attacked, pax_headers={key.replace("__", "."): value for key, value in fields.items()})


def ends_within_a_file(attacked: Attacked) -> None:
    member, _ = entry(f"{attacked.settings}/evil.env", size=1 << 20)
    attacked.put_plain("settings", header(member) + b"evil")


def cut(attacked: Attacked, holds: str) -> None:
    data = (attacked.folder / attacked.part(holds)["file"]).read_bytes()
    attacked.put(holds, data[: len(data) // 2])


def bomb(attacked: Attacked, holds: str, claimed: int | None) -> None:
    """Put 30 MB of zeros into 30 kB, claimed to be as large as before or as is said."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        if holds in ARCHIVES | {"keys"}:
            file.write(header(entry(f"{attacked.settings}/evil.env", size=30 << 20)[0]))
        for _ in range(30):
            file.write(bytes(1 << 20))
    data = packed.getvalue()
    if holds == "keys":
        data = pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(attacked.recipient)])
    attacked.put(holds, data, claimed)


def in_place_of(attacked: Attacked, holds: str, other: str) -> None:
    attacked.put(
        holds, (attacked.folder / attacked.part(other)["file"]).read_bytes(), attacked.part(other).get("plain")
    )


def change_database(attacked: Attacked, holds: str, *statements: str) -> None:
    """Change rows of a database, and pack it again."""
    path = attacked.folder / "changed.sqlite3"
    path.write_bytes(gzip.decompress((attacked.folder / attacked.part(holds)["file"]).read_bytes()))
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    attacked.put(holds, gzip.compress(path.read_bytes(), 1), path.stat().st_size)
    path.unlink()


def damage_a_page(attacked: Attacked, holds: str) -> None:
    data = bytearray(gzip.decompress((attacked.folder / attacked.part(holds)["file"]).read_bytes()))
    data[4096 : 3 * 4096] = b"x" * 8192
    attacked.put(holds, gzip.compress(bytes(data), 1), len(data))


def replace_text(attacked: Attacked, old: str, new: str) -> None:
    path = attacked.folder / "manifest.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", errors="surrogatepass")


def instead(attacked: Attacked, file: str, make: Callable[[Path], object]) -> None:
    """Put something else in the place of a regular file."""
    path = attacked.folder / file
    path.unlink()
    make(path)


def manifest_bytes(attacked: Attacked, data: bytes) -> None:
    (attacked.folder / "manifest.json").write_bytes(data)


GENERATION: Final = "INSERT OR REPLACE INTO meta (key, value) VALUES ('generation', '1')"
CASES: Final[dict[str, Callable[[Attacked], None]]] = {
    # Names of settings.
    "settings: a job of cron": lambda it: it.pack("settings", entry("etc/cron.d/evil")),
    "settings: a key of root's ssh": lambda it: it.pack("settings", entry("root/.ssh/authorized_keys")),
    "settings: a folder whose name begins like theirs": lambda it: it.pack(
        "settings", entry(f"{it.settings}-more/evil")
    ),
    "settings: an absolute name": lambda it: it.pack("settings", entry("/etc/cron.d/evil")),
    "settings: a name that leads up": lambda it: it.pack("settings", entry("../../etc/cron.d/evil")),
    "settings: a name that leads up within": lambda it: setting(it, "../../cron.d/evil"),
    "settings: a name with a dot": lambda it: setting(it, "./evil.env"),
    "settings: no name": lambda it: it.pack("settings", entry("")),
    "settings: a name with a line's end": lambda it: setting(it, "a\nb"),
    "settings: a name with a terminal's escape": lambda it: setting(it, "\x1b]0;evil\x07"),
    "settings: a name that is not UTF-8": lambda it: setting(it, "\udcff.env"),
    "settings: a name with NUL": lambda it: pax(it, path=f"{it.settings}/a\0b"),
    "settings: a name of 5,000 letters": lambda it: setting(it, "/".join(["a" * 99] * 50)),
    "settings: a step of 300 letters": lambda it: setting(it, "a" * 300),
    "settings: a name twice": lambda it: it.pack("settings", *[entry(f"{it.settings}/evil.env")] * 2),
    # Kinds of files.
    "settings: a symbolic link": lambda it: link(it, tarfile.SYMTYPE, "/etc"),
    "settings: a file behind a symbolic link": lambda it: it.pack(
        "settings",
        entry(f"{it.settings}/way", b"", type=tarfile.SYMTYPE, linkname="/etc/cron.d"),
        entry(f"{it.settings}/way/evil"),
    ),
    "settings: a hard link": lambda it: link(it, tarfile.LNKTYPE, "etc/shadow"),
    "settings: a pipe": lambda it: device(it, tarfile.FIFOTYPE),
    "settings: a character device": lambda it: device(it, tarfile.CHRTYPE),
    "settings: a block device": lambda it: device(it, tarfile.BLKTYPE),
    "settings: a folder": lambda it: setting(it, data=b"", type=tarfile.DIRTYPE, mode=0o777),
    "settings: an unknown kind": lambda it: setting(it, type=b"Z"),
    # Rights, owners, times.
    "settings: set-uid": lambda it: setting(it, mode=0o4755),
    "settings: set-gid and sticky": lambda it: setting(it, mode=0o3777),
    "settings: an owner of number 2^40": lambda it: pax(it, uid=str(1 << 40), gid=str(1 << 40)),
    "settings: an owner with a line's end": lambda it: setting(it, uname="a\nb"),
    "settings: a time that is not a number": lambda it: pax(it, mtime="nan"),
    "settings: a time past every calendar": lambda it: pax(it, mtime="1e300"),
    # Sizes and headers.
    "settings: a size below zero": size_below_zero,
    "settings: holes of a terabyte": sparse_of_a_terabyte,
    "settings: holes in the newer form": lambda it: pax(
        it, GNU__sparse__major="0", GNU__sparse__minor="1", GNU__sparse__map="0,4", GNU__sparse__size=str(1 << 40)
    ),
    "settings: a header of a gigabyte": header_of_a_gigabyte,
    "settings: 5,000 headers for one file": thousands_of_headers,
    "settings: cut in the middle": lambda it: cut(it, "settings"),
    "settings: ends within a file": ends_within_a_file,
    "settings: not compressed": lambda it: it.put("settings", b"not gzip" * 512),
    "settings: compressed, and not an archive": lambda it: it.put_plain("settings", b"x" * 4096),
    "settings: 30 MB of zeros, claimed to be small": lambda it: bomb(it, "settings", None),
    "settings: 30 MB of zeros, claimed to be a petabyte": lambda it: bomb(it, "settings", 10**15),
    # Other archives.
    "inbox: a file of the generator's": lambda it: it.pack("inbox", entry(".open-round")),
    "inbox: a file in a folder": lambda it: it.pack("inbox", entry("folder/A.ballot")),
    "exports: a payments ledger": lambda it: it.pack("exports", entry("payments.sqlite3")),
    "exports: a receipt key": lambda it: it.pack("exports", entry("keys/receipt.key")),
    "once: a name that leads up": lambda it: it.pack("once", entry("../current/index.html")),
    "keys: a key of another name": lambda it: it.pack("keys", entry("id_ed25519")),
    "keys: for another's identity": lambda it: it.put("keys", b"not age" * 80),
    "keys: 30 MB of zeros": lambda it: bomb(it, "keys", None),
    # Databases.
    "memory: not a database": lambda it: it.put("memory", gzip.compress(b"x" * 8192), 8192),
    "memory: 30 MB of zeros": lambda it: bomb(it, "memory", None),
    "memory: 30 MB of zeros, claimed to be a petabyte": lambda it: bomb(it, "memory", 10**15),
    "memory: the payments ledger": lambda it: in_place_of(it, "memory", "ledger"),
    "memory: not what the manifest says": lambda it: change_database(it, "memory", GENERATION),
    "memory: an invalid number of releases": lambda it: change_database(
        it, "memory", GENERATION.replace("'1'", "'-x'")
    ),
    "ledger: a damaged page": lambda it: damage_a_page(it, "ledger"),
    "ledger: payments taken out": lambda it: change_database(it, "ledger", "DELETE FROM payments"),
    "ledger: another program's": lambda it: change_database(it, "ledger", "DROP TABLE alembic_version"),
    # The manifest.
    "manifest: nested 100,000 deep": lambda it: manifest_bytes(it, b"[" * 100_000),
    "manifest: not JSON": lambda it: manifest_bytes(it, b"half"),
    "manifest: a list": lambda it: manifest_bytes(it, b"[]"),
    "manifest: 2 MB": lambda it: it.tell(version="x" * (2 << 20)),
    "manifest: a key twice": lambda it: replace_text(it, '"name"', '"name": "x", "name"'),
    "manifest: a size that is not a number": lambda it: replace_text(it, '"bytes": ', '"bytes": NaN, "b": '),
    "manifest: half of a surrogate pair": lambda it: replace_text(it, '"version": "', '"version": "\\ud800'),
    "manifest: a number of 30 digits": lambda it: it.tell(generation=10**30),
    "manifest: a format of tomorrow": lambda it: it.tell(format=99),
    "manifest: an unknown field": lambda it: it.tell(hook="/bin/sh"),
    "manifest: of another backup": lambda it: it.tell(name="20250101T000000Z"),
    "manifest: an invalid time": lambda it: it.tell(began="yesterday"),
    "manifest: a time of no zone": lambda it: it.tell(cut="2026-11-25T20:04:09"),
    "manifest: a part of another kind": lambda it: it.say("settings", holds="cron"),
    "manifest: a part twice": lambda it: it.tell(parts=[*it.manifest["parts"], it.part("memory")]),
    "manifest: a part in /dev/zero": lambda it: it.say("memory", file="/dev/zero"),
    "manifest: a part in a folder above": lambda it: it.say("memory", file="../../memory.sqlite3.gz"),
    "manifest: a part in another part's file": lambda it: it.say("memory", file="ledger.sqlite3.gz"),
    "manifest: a size below zero": lambda it: it.say("memory", bytes=-1),
    "manifest: an invalid digest": lambda it: it.say("memory", sha256="0"),
    "manifest: a set-uid database": lambda it: it.say("memory", mode=0o6755),
    "manifest: an owner with a terminal's escape": lambda it: it.say("memory", owner="\x1b[2J"),
    # Files of the target.
    "files: memory is a link to /dev/zero": lambda it: instead(
        it, it.part("memory")["file"], lambda path: path.symlink_to("/dev/zero")
    ),
    "files: memory is a pipe": lambda it: instead(it, it.part("memory")["file"], os.mkfifo),
    "files: memory is a folder": lambda it: instead(it, it.part("memory")["file"], os.mkdir),
    "files: the manifest is a link": lambda it: instead(
        it, "manifest.json", lambda path: path.symlink_to("/etc/hostname")
    ),
    "files: one byte changed": lambda it: (it.folder / it.part("ledger")["file"]).write_bytes(b"x"),
}
