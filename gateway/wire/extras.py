"""What is said where an extra of this package is not installed."""


def missing(what: str, extra: str) -> str:
    """Return the one line that names an extra, and the command that installs it.

    >>> missing("emi mcp", "mcp")
    'emi mcp needs the extra `mcp` of this package: pip install -r requirements-mcp.lock'
    """
    return f"{what} needs the extra `{extra}` of this package: pip install -r requirements-{extra}.lock"
