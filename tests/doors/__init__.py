"""Every door through which the bytes of others come in: whatever they are, they are read, or refused by name."""
