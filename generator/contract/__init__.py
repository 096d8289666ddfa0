"""Models of every public and paid body: frozen, no extra fields, every field described."""
