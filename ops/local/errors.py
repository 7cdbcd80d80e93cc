"""What can go wrong when the local stack starts."""


class DependencyMissing(RuntimeError):
    """Something the machine should have is not there (the command line exits 3)."""


class StartFailed(RuntimeError):
    """A process of the local stack did not come up; the message ends with the tail of its log."""
