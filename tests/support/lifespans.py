"""A gateway's application whose lifespan a test ends and begins again, as a restart of the process does."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Self

from starlette.applications import Starlette

from gateway.app.state import GatewayState


class RunningApp:
    """An application between `start` and `stop`; also an async context manager."""

    def __init__(self, app: Starlette) -> None:
        self.app = app
        self.handed: dict[str, Any] = {}
        """What the lifespan hands to the server."""
        self._lifespan: AbstractAsyncContextManager[Mapping[str, Any] | None] | None = None

    @property
    def state(self) -> GatewayState:
        found: GatewayState = self.app.state.gateway
        return found

    async def start(self) -> None:
        self._lifespan = self.app.router.lifespan_context(self.app)
        self.handed = dict(await self._lifespan.__aenter__() or {})

    async def stop(self) -> None:
        if self._lifespan is not None:
            lifespan, self._lifespan = self._lifespan, None
            await lifespan.__aexit__(None, None, None)

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()
