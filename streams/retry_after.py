"""What a server's Retry-After says."""

LONGEST_RETRY_AFTER_S = 60.0


def seconds(header: str | None) -> float | None:
    """Retry-After in seconds, capped; its date form needs a clock and is left out."""
    try:
        asked = float(header) if header else None
    except ValueError:
        return None
    if asked is None or not asked >= 0:
        return None
    return min(asked, LONGEST_RETRY_AFTER_S)
