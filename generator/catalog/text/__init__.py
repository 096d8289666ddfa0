"""Every sentence and word of the published texts, once."""
