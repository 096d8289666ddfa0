"""Offline training and evaluation on simulated markets; never imported by the service."""
