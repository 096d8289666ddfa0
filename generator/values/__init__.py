"""What the rooms hand to each other, one module a subject: each value once, frozen.

A value that is published is published as it is: there is no body that copies it. To make one:

1. It is a standard dataclass, `frozen=True, slots=True`, with `__pydantic_config__ = PUBLISHED`. The docstring of the
   class is the description of the object in OpenAPI, the docstring under each field that of the field. Pydantic reads
   only those of the class itself: what is inherited has none.
2. Fields stand in the order of the JSON. A default is published: OpenAPI no longer requires the field. So none has one,
   and what is made by hand is `kw_only=True`.
3. Numbers are rounded, times written as text and shares of too few cases left out where the value is made, since
   pydantic publishes an instance as it finds it. What is unknown is None, never a value whose fields are all None.
4. Bodies name the class: `held: Rate = Field(description=...)`, and get the value itself: `held=record.held`.
"""
