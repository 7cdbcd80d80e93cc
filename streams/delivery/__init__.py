"""Sending letters out: the port the delivery stage speaks, and the adapters behind it."""
