"""Pages, and their twins in Markdown."""
