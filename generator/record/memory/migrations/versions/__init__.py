"""How the memory's schema became what it is."""
