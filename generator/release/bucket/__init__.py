"""The same releases in an object store."""
