"""Erasing a customer: their words and records out of every store, amounts, counts and hashes kept."""
