"""Which schema a memory has, and how it comes to the newest: made at once, or brought there by migrations.

The schema is noted in Alembic's table, of a name of ours, so that the payments ledger takes no memory for its own, and
again as `schema_version` in `meta`, which is all that memories before schema 8 have of it. All of it is done in the
transaction that is open, so that no half remains.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.schema import ExecutableDDLElement

from generator.errors import MemoryUnreadable
from generator.record.memory import tables
from generator.record.memory.rows import put_meta

OLDEST: Final = "14"
"""The oldest schema that is brought up to date; every later change of a table comes with its migration."""
STEPS_BETWEEN: Final = ((4, 14, "78f9e24c"), (15, 19, "25b828a1"))
"""Schemas that are not upgraded any more: from the first to before the second, and the commit that leads to that."""
MIGRATIONS: Final = Path(__file__).with_name("migrations")
_FORM: Final = re.compile(r"[1-9][0-9]{0,3}")


def bring_up_to_date(connection: Connection, name: str, present: set[str], migrations: Path = MIGRATIONS) -> None:
    """Make the tables of an empty database, or bring those of an older memory to the newest schema.

    Args:
        name: the database, for people.
        present: its tables, but for those of others that may use it too.
        migrations: the folder of the scripts.

    Raises:
        MemoryUnreadable: it is another program's, or of a schema that is not upgraded. Nothing was changed.
    """
    if not present:
        for statement in _creation(connection.dialect):
            connection.exec_driver_sql(statement)
        _stamp(connection, tables.SCHEMA_VERSION)
        put_meta(connection, tables.SCHEMA_KEY, tables.SCHEMA_VERSION)
        return

    if tables.meta.name not in present:
        raise MemoryUnreadable(f"memory {name} is another program's database; name another file in MEMORY_URL")

    is_stamped = tables.stamp.name in present
    version = _stamped_version(connection) if is_stamped else _noted_version(connection)
    if not is_stamped or version not in _revisions(migrations):
        raise MemoryUnreadable(f"memory {name} has schema version {version}, {_way_back(version)}; nothing was changed")

    if version != tables.SCHEMA_VERSION:
        _migrate(connection, migrations)
        put_meta(connection, tables.SCHEMA_KEY, tables.SCHEMA_VERSION)


@cache
def _creation(dialect: sa.Dialect) -> tuple[str, ...]:
    """Return the statements that make every table and index; to compile them takes longer than to execute them."""
    statements: list[str] = []

    def take(ddl: ExecutableDDLElement, *_: object, **__: object) -> None:
        statements.append(str(ddl.compile(dialect=dialect)))

    tables.metadata.create_all(sa.create_mock_engine(f"{dialect.name}://", take), checkfirst=False)
    return tuple(statements)


def _stamped_version(connection: Connection) -> str | None:
    return connection.execute(sa.select(tables.stamp.c.version_num)).scalar_one_or_none()


def _noted_version(connection: Connection) -> str | None:
    """Return what a program from before the stamp noted."""
    query = sa.select(tables.meta.c.value).where(tables.meta.c.key == tables.SCHEMA_KEY)
    return connection.execute(query).scalar()


def _revisions(migrations: Path) -> set[str]:
    """Return the schemas that a migration begins or ends at."""
    numbers = (path.name.partition("_")[0] for path in (migrations / "versions").glob("[0-9]*.py"))
    return {str(int(number)) for number in numbers}


def _way_back(version: str | None) -> str:
    """Say what is to be done about a schema that cannot be upgraded."""
    number = int(version) if version is not None and _FORM.fullmatch(version) else 0
    if number > int(tables.SCHEMA_VERSION):
        return (
            f"newer than {tables.SCHEMA_VERSION}, the newest that this program knows: install the version that wrote "
            "it, or restore the backup made before that upgrade"
        )

    for first, reached, commit in STEPS_BETWEEN:
        if first <= number < reached:
            return f"too old for this program: start commit {commit} on it once, which brings it to schema {reached}"
    return f"this program knows {tables.SCHEMA_VERSION}: run the version that wrote it, or move it away to start again"


def _stamp(connection: Connection, version: str) -> None:
    tables.stamp.create(connection)
    connection.execute(sa.insert(tables.stamp).values(version_num=version))


def _migrate(connection: Connection, migrations: Path) -> None:
    # Imported here: nearly every start finds the newest schema, or an empty database, and needs none of it.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    # A percent sign in an option begins an interpolation, and a folder's name may hold one.
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["version_table"] = tables.stamp.name
    command.upgrade(config, tables.SCHEMA_VERSION)
