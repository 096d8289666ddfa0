"""Run the migrations on the connection that `generator.record.memory.schema` hands over, inside its transaction."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"], version_table=attributes["version_table"], transactional_ddl=True
)
context.run_migrations()
