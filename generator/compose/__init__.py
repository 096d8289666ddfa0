"""Readings to contract bodies, one file per endpoint."""
