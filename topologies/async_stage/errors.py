"""What a handler may raise, and what ends a stage."""

import asyncio


class RetryLater(Exception):
    """The call may succeed later: release the slot, back off, call again until the deadline."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after_s = after_s


class ProviderDown(RetryLater):
    """Nobody's call can succeed now: opens the breaker, the stage pauses until a probe succeeds."""

    def __init__(self, reason: str = "provider_down", after_s: float | None = None) -> None:
        super().__init__(reason, after_s)


class Hold(Exception):
    """Not now, by somebody's order: release the slot and call again when `released` is done. Neither an
    attempt nor a failure, and no deadline runs meanwhile."""

    def __init__(self, reason: str, released: asyncio.Future[None]) -> None:
        super().__init__(reason)
        self.released = released


class DeadLetter(Exception):
    """This message can never be handled: write it to the dead letters, go on."""


class DeadlineExceeded(Exception):
    """Given to `on_exhausted`: the message's time is up, the last failure is the cause."""


class OutputTooLarge(Exception):
    """Given to `dead_letter`: what the handler returned is more than the broker takes."""


class StageFailed(Exception):
    """The stage cannot go on; the process exits with `exit_code` and is started again."""

    exit_code = 1


class BrokerUnavailable(StageFailed):
    """Kafka did not answer for longer than the stage is patient."""

    exit_code = 3


class Fenced(StageFailed):
    """Another process has our name: it goes on, we do not."""

    exit_code = 4
