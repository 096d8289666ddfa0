"""The Arena: pure rules of rounds, ballots, outcomes, scores and lessons, and adapters for ballots."""
