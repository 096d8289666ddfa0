"""What the rooms hand to each other, one module a subject: each value once, frozen."""
