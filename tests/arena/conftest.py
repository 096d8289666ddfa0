"""Property tests of these rooms: the same examples every time, and no wall-clock limit on a busy machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("arena", deadline=None, derandomize=True, database=None)
settings.load_profile("arena")
