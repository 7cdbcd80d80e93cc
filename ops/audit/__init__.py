"""What an auditor asks: whether the trail is whole, whether the counts and prices follow from it, and a copy."""
