"""A free loopback port that stays ours across a restart."""

import random
import socket

# Below the range the kernel hands to outgoing connections (32768 and up on Linux): a client that
# keeps redialling a dead broker could otherwise take its port, or even connect to itself.
FIRST, LAST = 15_000, 32_000


def free_port() -> int:
    for _ in range(200):
        port = random.randrange(FIRST, LAST)
        if port_is_free(port):
            return port
    raise OSError(f"no free loopback port between {FIRST} and {LAST}")


def port_is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def accepts(port: int, timeout_s: float = 0.25) -> bool:
    """True once something answers on the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=timeout_s):
            return True
    except OSError:
        return False
