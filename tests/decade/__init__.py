"""Years of record made in minutes, and what a start, a tick and an audit cost over them."""
