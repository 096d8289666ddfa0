"""The report: its facts, its figures in words, its sentences."""
