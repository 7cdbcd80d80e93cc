"""Says at once that Kafka is not there; its client would try for seconds and log each try."""

import socket

from ops.commands.reply import DEPENDENCY_DOWN, Failure
from topologies import clients

CONNECT_WITHIN_S = 3.0


def need_kafka() -> None:
    """Return where one of the bootstrap servers takes a connection.

    Raises:
        Failure: none does.
    """
    problems: list[str] = []
    for server in clients.broker().split(","):
        host, _, port = server.strip().removeprefix("[").replace("]:", ":").rpartition(":")
        try:
            socket.create_connection((host, int(port)), CONNECT_WITHIN_S).close()
            return
        except ValueError:
            raise Failure(
                f"REFUND_BENCH_BROKER: {server!r} is not host:port", "write host:9092"
            ) from None
        except OSError as error:
            problems.append(f"{server}: {error.strerror or error}")
    raise Failure(
        f"Kafka does not answer at {'; '.join(problems)}",
        "start `refund-bench up`, or set REFUND_BENCH_BROKER",
        DEPENDENCY_DOWN,
    )
