"""Reading a whole memory, for comparisons."""

from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, select

from generator.record.memory.store import Memory
from generator.record.memory.tables import metadata, rejected


def url_in(folder: Path, name: str = "memory.sqlite3") -> str:
    """Return the URL of a file in a folder."""
    return f"sqlite:///{folder / name}"


def dump(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            return {
                table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
                for table in metadata.sorted_tables
            }
    finally:
        engine.dispose()


def refused_ballots(memory: Memory) -> dict[str, int]:
    """Return how many ballots were refused, by reason."""
    with memory.reading() as connection:
        return {row.reason: row.n for row in connection.execute(select(rejected))}


def reopen(memory: Memory, url: str) -> Memory:
    """Stop and start again."""
    memory.close()
    return Memory.open(url)
