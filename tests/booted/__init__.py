"""A booted Debian on which the units of site/edge/systemd run as an operator's machine runs them."""
