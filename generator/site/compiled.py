"""Compiled templates, kept next to their sources as Python keeps modules: a start compiles none of them again."""

import os
import pickle  # raised from within jinja2
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from jinja2.bccache import Bucket, BytecodeCache

_FOLDER: Final = "__pycache__"
_UNREADABLE: Final = (OSError, EOFError, pickle.UnpicklingError)


class CompiledTemplates(BytecodeCache):
    """What an earlier process compiled; where it cannot be read or written, each process compiles for itself.

    Args:
        templates: the folder of the sources.
        setting: what else the compiled form depends on, as a text: how the environment is set up.
    """

    def __init__(self, templates: Path, setting: str) -> None:
        self._folder = templates / _FOLDER
        self._setting = setting

    def get_source_checksum(self, source: str) -> str:
        """Name what a compiled template is of; one of anything else is not used."""
        return super().get_source_checksum(f"{self._setting}\n{source}")

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read one, if it is there, whole and of this source."""
        try:
            with self._file(bucket).open("rb") as file:
                bucket.load_bytecode(file)
        except _UNREADABLE:
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep one, whole or not at all."""
        if sys.dont_write_bytecode:
            return
        file = self._file(bucket)
        draft = file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._folder.mkdir(exist_ok=True)
            draft.write_bytes(bucket.bytecode_to_string())
            draft.replace(file)

    def _file(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.{sys.implementation.cache_tag}.jinja"
