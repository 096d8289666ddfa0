"""What `emi mcp` does: eight tools that read, verify and buy for an agent, in small answers of their own."""
