"""What `emi buy` does: read an offer, sign once, keep what was signed, and believe only what can be checked."""
