"""Letters over HTTP to whatever writes to the customers."""

import aiohttp

from schemas.letter import Letter
from schemas.receipt import Channel
from streams import retry_after
from streams.delivery.port import NotDelivered, Undeliverable

ABOUT_THE_LETTER = frozenset({400, 409, 410, 413, 415, 422})
"""The statuses that say something about this letter. Any other, a wrong token or path included, says
that the channel does not work: the stage waits and no letter becomes a dead letter for it."""


class WebhookDelivery:
    """POSTs the letter event as JSON; the receiver tells a repeat by `Idempotency-Key`, the letter_id.

    One connection pool; close it with `aclose`.
    """

    channel: Channel = "webhook"

    def __init__(self, url: str, timeout_s: float = 10.0) -> None:
        self._url = url
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._session: aiohttp.ClientSession | None = None

    async def send(self, letter: Letter) -> str:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout)
        headers = {
            "Content-Type": "application/json",
            # An id may hold any letter, a header only these.
            "Idempotency-Key": letter.letter_id.encode("ascii", "backslashreplace").decode(),
        }
        try:
            async with self._session.post(
                self._url, data=letter.to_bytes(), headers=headers, allow_redirects=False
            ) as answer:
                status = answer.status
                after_s = retry_after.seconds(answer.headers.get("Retry-After"))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            # The type only: the text may hold the address, and the address a password.
            raise NotDelivered(type(error).__name__) from error
        if 200 <= status < 300:
            return f"webhook:{letter.letter_id}"
        if status in ABOUT_THE_LETTER:
            raise Undeliverable(f"webhook answered {status}")
        raise NotDelivered(f"webhook answered {status}", after_s)

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None
