"""The transparency log: pure hashing and notes; who stores and who publishes is told elsewhere."""
