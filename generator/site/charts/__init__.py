"""Charts as accessible SVG, each with its table."""
