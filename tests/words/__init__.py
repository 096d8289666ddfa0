"""What is told of the market, held against the raw closes."""
