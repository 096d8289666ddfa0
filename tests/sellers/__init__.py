"""Sellers that lie, over the devnet, and what a buyer loses to them: `python -m tests.sellers`."""
