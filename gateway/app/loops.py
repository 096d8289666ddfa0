"""Work that is done again and again for as long as the gateway runs, each kind in a loop of its own."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from gateway.errors import database_reason
from gateway.vault.folder import POLL_S
from gateway.wire.notify import ALIVE, FEED_EVERY_S, notify_supervisor

log = structlog.get_logger("gateway")


async def repeat(work: Callable[[], Awaitable[object]], complaint: str, every_s: float = POLL_S) -> None:
    """Do one kind of work each second, in a loop of its own: what hangs delays nothing else.

    A failure is logged, of an outage of the database the first.
    """
    failing = False
    while True:
        await asyncio.sleep(every_s)
        try:
            await work()
            failing = False

        except SQLAlchemyError as error:
            if not failing:
                log.error(complaint, reason=database_reason(error))  # noqa: TRY400
            failing = True

        except Exception:
            log.exception(complaint)


async def say_alive_forever() -> None:
    """Say to the supervisor that this loop lives: one that hangs does not, and is ended and started again."""
    while True:
        notify_supervisor(ALIVE)
        await asyncio.sleep(FEED_EVERY_S)


@contextlib.asynccontextmanager
async def running(loops: Iterable[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run loops until the context ends, then cancel them and wait for their end."""
    tasks = [asyncio.create_task(loop) for loop in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
