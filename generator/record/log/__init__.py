"""The transparency log: pure hashing and notes; storage and publication are elsewhere."""
