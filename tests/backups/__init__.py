"""Backups of a state under load, at random instants."""
