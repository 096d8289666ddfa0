"""What an operator does: set a machine up, keep its state, watch it."""
