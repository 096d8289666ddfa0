"""With what headers an object store and its CDN are to serve each published file."""

from __future__ import annotations

from collections.abc import Collection

from gateway.wire.media_types import ENCODINGS, content_type


def attributes(path: str, siblings: Collection[str], cache_control: str) -> dict[str, str]:
    """Return the attributes of one object.

    Args:
        path: with leading slash.
        siblings: the paths published with it: `a.json.gz` is a variant only where there is `a.json`.
        cache_control: as every file of its kind has it.
    """
    base, encoding = path, None
    for ending, name in ENCODINGS.items():
        if path.endswith(ending) and path.removesuffix(ending) in siblings:
            base, encoding = path.removesuffix(ending), name
    found = {"Content-Type": content_type(base), "Cache-Control": cache_control}
    return found if encoding is None else found | {"Content-Encoding": encoding}
