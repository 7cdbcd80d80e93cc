"""Slow calls on a Kafka stream: bounded concurrency, out-of-order completion, exactly-once output.

    async def handler(message: Message) -> list[Output]:
        answer = await call(message.value)          # RetryLater, ProviderDown, DeadLetter, or a result
        return [Output("answers", message.key or b"", answer)]

    AsyncStage("extraction", input="disputes", handler=handler, settings=StageSettings(slots=100)).run()

Bytes in, bytes out: the package knows nothing of what they mean. Several stages share a process and
one asyncio loop with `AsyncWorker([...]).run()`; each has a thread of its own for Kafka.

What it guarantees. The test behind each line is in `tests/GUARANTEES.md`.

1.  Every message has its outputs exactly once for a read_committed reader, whatever process is
    killed or frozen at whatever moment: outputs, dead letters and progress are one transaction. An
    empty list is a result too.
2.  A call is repeated only if it was under way, or its result was, when its process died. When a
    partition moves from a living process, calls that outlast `revoke_wait_s` are cut short and
    repeated too (`cancelled`), and all of them when the process was cut off from Kafka. A call is
    not an output: one that moves money needs an idempotency key of its own.
3.  Results are written as they finish; nothing waits for an older message. A commit says which
    messages above the lowest unfinished one are finished (bitset, at most 2,740 of the broker's
    4,096 characters of metadata), so a restart repeats none of them.
4.  At most `slots` calls run, and no fewer while work is there. A message in backoff holds no slot.
5.  A message that is stuck lets others pass until its partition's span is full; then that partition
    pauses and no other does.
6.  `RetryLater` backs off with full jitter, obeys Retry-After up to a cap, and ends at the deadline
    with `on_exhausted`'s answer or a dead letter, once, however a timeout and a result race.
7.  `ProviderDown`, or many failures in a row, pauses the stage; a probe a second finds out when the
    provider is back. The pause counts against no deadline and makes no dead letter. `Hold` does the
    same to one message, without a slot and without an attempt, until it is released.
8.  What cannot be handled (a handler's crash, nonsense returned, an output the broker does not take)
    becomes a dead letter with its origin and error in the same transaction; the rest goes on.
9.  Nothing is written for a partition that is another's: commits carry a checked snapshot of the
    group membership, never generation -1 or an empty member. A partition that a process died over
    while giving it up has an owner again within about 15 s.
10. Kafka away, for longer than a transaction may take even: no result is lost, no call repeated.
    Away longer than `patience_s`: the process exits with 3.
11. Two processes with one name: the older exits with 4.
12. SIGTERM: no new calls, the running ones may finish within `grace_s`, what is done is committed
    (after a rebalance that is under way, if need be), exit 0. Results that Kafka would not take
    until then: exit 3, and their calls are repeated by the next process.
13. With `key_order` messages of one key run one at a time, in order, through retries too.

Limits. Outputs for a topic that does not exist stop the stage (exit 3 after `patience_s`). A log cut
and written anew at offsets already passed in the same assignment cannot be told from a redelivery.
A clean stop does not leave the group (members are static): its partitions move after the session
timeout of 6 s unless it comes back first; a frozen owner's open transaction holds them for up to 10 s.
"""

from topologies.async_stage.circuit_breaker import BreakerState
from topologies.async_stage.errors import (
    DeadLetter,
    DeadlineExceeded,
    Hold,
    OutputTooLarge,
    ProviderDown,
    RetryLater,
    StageFailed,
)
from topologies.async_stage.message import Message, Output
from topologies.async_stage.settings import StageSettings
from topologies.async_stage.stage import AsyncStage, AsyncWorker

__all__ = [
    "AsyncStage",
    "AsyncWorker",
    "BreakerState",
    "DeadLetter",
    "DeadlineExceeded",
    "Hold",
    "Message",
    "Output",
    "OutputTooLarge",
    "ProviderDown",
    "RetryLater",
    "StageFailed",
    "StageSettings",
]
