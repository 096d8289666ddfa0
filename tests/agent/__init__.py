"""The tools of `emi mcp`."""
