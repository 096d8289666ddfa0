"""Errors other than 402: RFC 9457 problem details."""

from __future__ import annotations

from pydantic import Field

from generator.contract.base import Body, absent


class Problem(Body):
    """An error in `application/problem+json`."""

    type: str = Field(description="Address that names the kind of problem, or about:blank.")
    title: str = Field(description="The kind of problem in a few words.")
    status: int = Field(description="HTTP status code.")
    detail: str = Field(description="What went wrong in this request.")
    instance: str = Field(description="Path of the request.")
    project: str = Field(description="Name of the service.")
    disclaimer: str = Field(description="Educational notice.")
    supported_assets: tuple[str, ...] | None = Field(
        default=None, exclude_if=absent, description="Assets that the service reads, where that helps."
    )
