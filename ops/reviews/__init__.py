"""The officer's desk: who may decide, what waits, one case, and what becomes of a review."""
