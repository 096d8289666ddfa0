"""A loopback Algorand for the demo and the tests: ledger, algod, indexer, facilitator, faucet, wallet."""
