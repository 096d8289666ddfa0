"""Units of the scripts that pages load, run by `node --test` without a browser."""
