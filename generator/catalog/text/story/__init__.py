"""The human report as a story."""
