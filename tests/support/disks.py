"""A disk that fails where a test says, before the step or after it was done."""

import errno
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generator.release.disk import LocalDisk, StrPath

STEPS = ("write", "link", "sync", "move", "replace", "point")


class FailingDisk(LocalDisk):
    """Fail one kind of operation from its `n`th use on, as a full disk does, until `heal` is called.

    Args:
        step: one of STEPS.
        n: how many of them succeed first.
        done: the operation is carried out and raises all the same.
        number: the errno to raise.
    """

    def __init__(self, step: str, n: int = 0, *, done: bool = False, number: int = errno.ENOSPC) -> None:
        self.step, self.left, self.done, self.number = step, n, done, number
        self.armed = True

    def heal(self) -> None:
        self.armed = False

    def _run(self, step: str, work: Any, *arguments: Any) -> None:
        if step == self.step and self.armed and Path(str(arguments[0])).name != ".probe":
            if self.left == 0:
                if self.done:
                    work(*arguments)
                raise OSError(self.number, {28: "No space left on device", 30: "Read-only file system"}[self.number])
            self.left -= 1
        work(*arguments)

    def write(self, path: StrPath, data: bytes, modified_s: int | None = None) -> None:
        self._run("write", super().write, path, data, modified_s)

    def link(self, source: StrPath, path: StrPath) -> None:
        self._run("link", super().link, source, path)

    def sync(self, folder: StrPath) -> None:
        self._run("sync", super().sync, folder)

    def move(self, pairs: Sequence[tuple[StrPath, StrPath]]) -> None:
        self._run("move", super().move, pairs)

    def replace_text(self, path: Path, data: bytes) -> None:
        self._run("replace", super().replace_text, path, data)

    def point(self, link: Path, target: str) -> None:
        self._run("point", super().point, link, target)


class CountingDisk(LocalDisk):
    """Count every operation."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def write(self, path: StrPath, data: bytes, modified_s: int | None = None) -> None:
        self.counts["write"] += 1
        super().write(path, data, modified_s)

    def link(self, source: StrPath, path: StrPath) -> None:
        self.counts["link"] += 1
        super().link(source, path)

    def sync(self, folder: StrPath) -> None:
        self.counts["sync"] += 1
        super().sync(folder)

    def point(self, link: Path, target: str) -> None:
        self.counts["point"] += 1
        super().point(link, target)
