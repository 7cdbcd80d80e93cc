"""Letters as plain-text mail, handed to a relay on a network of ours: no TLS, no login."""

import asyncio
import contextlib
import re
import smtplib
from email import policy
from email.message import EmailMessage
from email.utils import format_datetime
from urllib.parse import quote

from schemas.ids import content_hash
from schemas.letter import Letter
from schemas.receipt import Channel
from streams.delivery.port import NotDelivered, Undeliverable

CUSTOMER_ID = "{customer_id}"
LOCAL_PART = re.compile(r"[A-Za-z0-9_+=-]+(?:\.[A-Za-z0-9_+=-]+)*")
"""What we put before the @: nothing that could make it another address, or two."""
ANSWERED_WITHIN_S = 5.0
"""Per step of the conversation. Short, because a thread that waits holds up the app's end."""
NOT_THE_LETTERS_FAULT = frozenset({530, 535})
"""The relay wants a login: a matter of set-up, to be put right and tried again."""


class SmtpDelivery:
    """One connection per letter. A mailbox tells a repeat by the Message-ID, made from the letter_id."""

    channel: Channel = "smtp"

    def __init__(self, host: str, port: int, sender: str, to: str) -> None:
        """`to` is an address with {customer_id} before the @."""
        self._host, self._port = host, port
        self._sender, self._to = sender, to

    async def send(self, letter: Letter) -> str:
        message = self.compose(letter)
        await asyncio.to_thread(self._send, message)
        return str(message["Message-ID"])

    def compose(self, letter: Letter) -> EmailMessage:
        """The mail.

        Raises:
            Undeliverable: the customer's id makes no address.
        """
        local = self._to.partition("@")[0].replace(CUSTOMER_ID, letter.customer_id)
        if len(local) > 64 or not LOCAL_PART.fullmatch(local):
            raise Undeliverable("the customer_id makes no mail address")
        message = EmailMessage(policy=policy.SMTP)
        message.set_content(letter.body, cte="quoted-printable")
        # Headers up to the longest line there may be: a Message-ID in two is encoded and no longer the same.
        message.policy = policy.SMTP.clone(max_line_length=998)
        message["From"] = self._sender
        message["To"] = f"{local}@{self._to.partition('@')[2]}"
        message["Subject"] = f"Your complaint about {letter.order_id}"
        message["Date"] = format_datetime(letter.at)
        message["Message-ID"] = f"<{_name(letter.letter_id)}@{self._sender.partition('@')[2]}>"
        message["Content-Language"] = letter.language
        message["Auto-Submitted"] = "auto-generated"
        if letter.simulated:
            message["X-Refund-Bench-Simulated"] = "true"
        return message

    def _send(self, message: EmailMessage) -> None:
        try:
            client = smtplib.SMTP(self._host, self._port, timeout=ANSWERED_WITHIN_S)
        except (smtplib.SMTPException, OSError) as error:
            raise NotDelivered(type(error).__name__) from error
        try:
            client.send_message(message, from_addr=self._sender, to_addrs=[message["To"]])
        except smtplib.SMTPRecipientsRefused as refused:
            raise _failure(*(code for code, _ in refused.recipients.values())) from refused
        except smtplib.SMTPDataError as refused:
            raise _failure(refused.smtp_code) from refused
        except (smtplib.SMTPException, OSError) as error:
            raise NotDelivered(type(error).__name__) from error
        else:
            # It is theirs now, however the goodbye goes.
            with contextlib.suppress(smtplib.SMTPException, OSError):
                client.quit()
        finally:
            client.close()


def _failure(*codes: int) -> NotDelivered | Undeliverable:
    code = codes[0]
    if 500 <= code < 600 and code not in NOT_THE_LETTERS_FAULT:
        return Undeliverable(f"smtp answered {code}")
    return NotDelivered(f"smtp answered {code}")


def _name(letter_id: str) -> str:
    """The letter_id as it can stand in a Message-ID, where a colon may not; where too long, its hash."""
    name = quote(letter_id, safe="").replace(".", "%2E")
    return name if len(name) <= 200 else content_hash(letter_id.encode()).partition(":")[2]
