"""Many immutable objects at once: a bounded number under way, one deadline over all."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from generator.errors import PublishError
from generator.wings.bucket.store import Bucket, Conflict, StoreFault

AT_ONCE: Final = 16
TRIES: Final = 2


@dataclass(frozen=True, slots=True)
class Upload:
    """One object that no one may ever change.

    Args:
        path: below the bucket's prefix, without a leading slash.
        data: all of it.
        attributes: Content-Type, Cache-Control, Content-Encoding.
    """

    path: str
    data: bytes
    attributes: Mapping[str, str]


def upload(bucket: Bucket, objects: Sequence[Upload], deadline_s: float, what: str) -> None:
    """Store every object; the first that cannot be stored stops the rest.

    What is under way when it stops may still arrive: nothing points to it yet, and it is never overwritten.

    Args:
        bucket: where to.
        objects: stored in no particular order.
        deadline_s: seconds for all of them.
        what: they are, for the text of a failure.

    Raises:
        PublishError: not all of it is there.
    """
    until = time.monotonic() + deadline_s
    stop = threading.Event()
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="upload")
    try:
        waiting = [pool.submit(_put, bucket, item, until, stop) for item in objects]
        done, late = wait(waiting, timeout=deadline_s, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if late:
            raise StoreFault(f"{len(late)} of {len(objects)} objects were not stored within {deadline_s:g} s")
    except StoreFault as fault:
        raise PublishError(f"{what} not published: {fault}") from fault
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _put(bucket: Bucket, item: Upload, until: float, stop: threading.Event) -> None:
    """Store one object; what a try stored without an answer counts.

    Raises:
        StoreFault: it is not there, or that is unknown.
    """
    for left in reversed(range(TRIES)):
        if stop.is_set():
            return
        try:
            bucket.create(item.path, item.data, item.attributes)
        except Conflict:
            if not _is_there(bucket, item):
                raise StoreFault(f"{item.path} is there already with other bytes: it is never overwritten") from None
        except StoreFault as fault:
            last_try = fault.refused or not left or time.monotonic() >= until
            if not (last_try or stop.is_set()):
                continue
            if fault.refused or not _is_there(bucket, item):
                raise
        return


def _is_there(bucket: Bucket, item: Upload) -> bool:
    """Return whether exactly these bytes lie there."""
    found = bucket.get(item.path, len(item.data))
    return found is not None and found.data == item.data
