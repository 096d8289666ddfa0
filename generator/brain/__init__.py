"""The brain: pure functions from bars to a reading. No clock, no disk, no network."""
