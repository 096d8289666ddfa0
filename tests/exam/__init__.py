"""The reading exam: what a careful reader answers from published bodies, and a plain program that answers the same."""
