"""SQLAlchemy compiles a statement once a process instead of once a database, for tests open thousands of them."""

from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite


class SharedDialect(SQLiteDialect_pysqlite):
    """SQLite's; those of two engines are equal, so that a compiled statement of one serves the other."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharedDialect)

    def __hash__(self) -> int:
        return hash(SharedDialect)


def share_compiled_statements() -> None:
    """Let every database that is opened from now on use what was compiled for another."""
    compiled: dict[Any, Any] = {}
    registry.register("sqlite", __name__, SharedDialect.__name__)

    @event.listens_for(Engine, "engine_connect")
    def use_shared(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)
