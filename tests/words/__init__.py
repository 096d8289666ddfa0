"""Sentences about the market, held against the raw closes."""
