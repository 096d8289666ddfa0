"""Mutation testing by hand: `python -m tests.mutants` changes the source in one place and runs the room's tests."""
