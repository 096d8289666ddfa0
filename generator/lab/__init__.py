"""Offline training and evaluation on simulated markets; used from a checkout, not in the wheel."""
