"""A small file that is replaced whole: after a power cut there is the old one or the new one, never a part."""

import os
from pathlib import Path


def replace_file(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file by one that is whole and on the disk, name and content, when this returns; OSError if it is not.

    Two processes may replace the same file: each has a draft of its own, and the later rename counts.

    Args:
        path: below a folder that exists.
        content: all of it.
        mode: of the new file, whatever the umask is.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        draft.chmod(mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def replace_status(path: Path, content: bytes) -> None:
    """Replace a file that names no secret as `replace_file` does: whoever may list its folder may read it.

    In a folder that programs share, others read it whatever the umask is; in a private one it is its owner's alone.
    """
    replace_file(path, content, 0o600 | path.parent.stat().st_mode & 0o044)


def sync_folder(folder: Path) -> None:
    """Put the names in a folder on the disk; Windows opens no folder, and writes names down by itself."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
