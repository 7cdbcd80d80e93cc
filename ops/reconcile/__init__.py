"""Decisions against the gateway, the ledger and ClickHouse: does the money add up, dispute by dispute."""
