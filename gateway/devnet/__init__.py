"""A loopback Algorand for the demo and the tests: toy ledger, algod, indexer, facilitator, faucet, wallet."""
