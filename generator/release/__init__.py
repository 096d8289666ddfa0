"""Bytes to releases: encoding, OpenAPI, pages, discovery files, the atomic release and the vault."""
