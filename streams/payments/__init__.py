"""Moving money: the port the payout stage speaks, and the adapters behind it."""
