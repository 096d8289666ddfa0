"""What a reader runs: buy, vote, verify, and the tools of an agent. It knows no setting of the service."""
