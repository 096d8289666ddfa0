"""A lease in one row of a PostgreSQL table, dated by the database's clock alone.

No advisory lock: that one lives as long as its connection, and the connection of a suspended leader lives for hours.
"""

import os
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from generator.errors import LeadershipLost, LeaseUnreachable
from generator.runtime.lease import DEFAULT_TTL_S, NO_HOLDER, Grant

_TABLE: Final = """create table if not exists emi_lease (
    name text primary key, epoch bigint not null, holder text not null, until timestamptz not null)"""
_MAKING: Final = "select pg_advisory_xact_lock(1162692866)"  # `create table if not exists` is not safe against itself
_ACQUIRE: Final = text("""insert into emi_lease as held (name, epoch, holder, until)
    values (:name, cast(:floor as bigint) + 1, :holder, clock_timestamp() + cast(:ttl as interval))
    on conflict (name) do update set epoch = greatest(held.epoch, cast(:floor as bigint)) + 1,
        holder = excluded.holder, until = clock_timestamp() + cast(:ttl as interval)
    where held.until < clock_timestamp()
    returning epoch""")
_RENEW: Final = text("""update emi_lease set until = clock_timestamp() + cast(:ttl as interval)
    where name = :name and holder = :holder and epoch = :epoch""")
_RELEASE: Final = text("""update emi_lease set until = '-infinity'
    where name = :name and holder = :holder and epoch = :epoch""")
_HOLDER: Final = text("select holder from emi_lease where name = :name")


class PostgresLease:
    """Keeps `Lease` with the row `name` of the table `emi_lease`; LeaseUnreachable where the URL cannot be used."""

    def __init__(self, url: str, ttl_s: float = DEFAULT_TTL_S, name: str = "generator") -> None:
        wait_ms = max(round(ttl_s * 500), 500)  # two tries before it runs out
        defaults = {
            "connect_timeout": 2,
            "tcp_user_timeout": wait_ms,
            "options": f"-c statement_timeout={wait_ms} -c lock_timeout={wait_ms} -c synchronous_commit=on",
        }

        try:
            parsed = make_url(url)
            arguments: dict[str, Any] = {key: value for key, value in defaults.items() if key not in parsed.query}
            self._engine = create_engine(
                parsed, pool_size=1, max_overflow=0, pool_timeout=wait_ms / 1000, connect_args=arguments
            )
        except ImportError as error:
            extra = "needs the extra `postgres` of this package: pip install -r requirements-postgres.lock"
            raise LeaseUnreachable(f"LEASE_URL {extra}") from error
        except (ArgumentError, NoSuchModuleError, ValueError) as error:
            raise LeaseUnreachable("LEASE_URL cannot be used: not a PostgreSQL URL") from error

        self._where = parsed.render_as_string(hide_password=True)
        self._ttl_s = ttl_s
        self._row = {"name": name, "holder": _own_name(), "ttl": timedelta(seconds=ttl_s)}
        self._epoch: int | None = None
        self._holder = NO_HOLDER
        self._made = False

    def acquire(self, floor: int) -> Grant | None:
        """Take the row if its time is over."""
        with self._connected() as connection:
            if not self._made:
                connection.execute(text(_MAKING))
                connection.execute(text(_TABLE))
            epoch = connection.execute(_ACQUIRE, {**self._row, "floor": floor}).scalar()
            if epoch is None:
                self._holder = str(connection.execute(_HOLDER, self._row).scalar())
        self._made = True

        if epoch is None:
            self._epoch = None
            return None
        self._epoch = int(epoch)
        return Grant(self._epoch, self._ttl_s)

    def renew(self) -> None:
        """Extend the row's time, if it is still ours."""
        with self._connected() as connection:
            ours = connection.execute(_RENEW, {**self._row, "epoch": self._epoch}).rowcount
        if not ours:
            raise LeadershipLost(f"another generator took the lease in {self._where}")

    def release(self) -> None:
        """End the row's time now."""
        with self._connected() as connection:
            connection.execute(_RELEASE, {**self._row, "epoch": self._epoch})
        self._epoch = None

    def holder(self) -> str:
        """Name machine and process of the one that holds it."""
        return self._holder.rpartition(":")[0] or self._holder

    def close(self) -> None:
        """Close the connection."""
        self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            self._engine.dispose()  # a broken connection is not tried twice
            lines = str(getattr(error, "orig", None) or error).strip().splitlines()
            reason = lines[0] if lines else type(error).__name__
            raise LeaseUnreachable(f"lease in {self._where} not reached: {reason}") from error


def _own_name() -> str:
    """Name this process: machine and process id for people, and a number that a restart does not repeat."""
    return f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
