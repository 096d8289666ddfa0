"""Practice on past hours of the record: items, scores and verdicts of a learner; pure."""
