"""The memory: rounds, ballots, predictions, lessons and the brain's state, in one SQL database."""
