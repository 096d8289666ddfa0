"""How pydantic reads a value that is published as it is."""

from typing import Final

from pydantic import ConfigDict

PUBLISHED: Final = ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)
"""The `__pydantic_config__` of a published value: its docstring and those of its own fields describe it."""
