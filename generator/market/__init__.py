"""Market data: value types, sources, consensus and the history ring."""
