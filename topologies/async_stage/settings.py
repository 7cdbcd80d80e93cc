"""The few numbers a stage is set up with."""

from dataclasses import dataclass
from typing import Final

from topologies.async_stage.offset_codec import MAX_SPAN

DEFAULT_GROUP_PREFIX: Final = "refund-bench."


@dataclass(frozen=True, slots=True)
class StageSettings:
    """Times in seconds. The defaults suit calls to a language model."""

    slots: int = 100
    """Calls at the same time."""
    prefetch: int | None = None
    """Messages kept at hand beyond the slots; None is as many as slots, 32 at least."""
    span: int = 4_096
    """Offsets between the lowest unfinished one and the newest admitted, per partition."""
    max_waiting: int = 2_000
    """Messages in backoff, or behind another of their key, before no more are admitted."""

    attempt_timeout_s: float = 60.0
    deadline_s: float = 300.0
    """From a message's first call; the time an open breaker holds the stage does not count."""
    first_backoff_s: float = 1.0
    longest_backoff_s: float = 8.0
    retry_after_cap_s: float = 30.0

    failures_to_open: int = 20
    """Retryable failures in a row, over all messages, that open the breaker."""
    probe_every_s: float = 1.0

    commit_interval_s: float = 0.05
    """The least time between the beginnings of two commits. A result that comes alone is committed at
    once; under load this is what the engine's CPU per message hangs on."""
    max_output_bytes: int = 1_950_000
    dead_letter_topic: str = "dead-letters"

    grace_s: float = 8.0
    """After SIGTERM: how long running calls may take to finish."""
    revoke_wait_s: float = 3.0
    """When a partition moves away: how long its running calls may take to finish. What takes longer
    is cancelled and called again by the new owner, so this is to be longer than nearly every call."""
    patience_s: float = 120.0
    """How long Kafka may fail to answer before the stage gives up and exits."""

    group_prefix: str = DEFAULT_GROUP_PREFIX
    ordinal: int | None = None
    """Which instance this is; None reads REFUND_BENCH_ORDINAL."""
    bootstrap: str | None = None
    """None reads REFUND_BENCH_BROKER."""

    def __post_init__(self) -> None:
        """Refuse what cannot work at the start rather than at the first straggler."""
        if self.slots < 1:
            raise ValueError("slots must be at least 1")
        if not 1 <= self.span <= MAX_SPAN:
            raise ValueError(f"span must be 1 to {MAX_SPAN}: a commit's metadata has to hold it")

    @property
    def ahead(self) -> int:
        """Messages kept at hand beyond the slots."""
        return max(self.slots, 32) if self.prefetch is None else self.prefetch
