"""A machine set up and taken down again: a plan of small steps, each of which knows how it is undone."""
