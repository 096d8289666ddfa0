"""The nine chapters of Learn: a guess, what this month says, a picture, and three questions more."""
