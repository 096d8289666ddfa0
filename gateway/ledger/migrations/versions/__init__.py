"""How the payments ledger's schema became what it is."""
