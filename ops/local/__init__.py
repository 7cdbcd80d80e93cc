"""One machine, no Docker: the broker, the stand-ins and the supervisor that `up` and tests use."""
