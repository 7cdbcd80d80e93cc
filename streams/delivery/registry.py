"""REFUND_BENCH_DELIVERY ► the way out it names."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from streams.delivery.file import FileDelivery
from streams.delivery.port import Delivery, Misconfigured
from streams.delivery.smtp import CUSTOMER_ID, LOCAL_PART, SmtpDelivery
from streams.delivery.webhook import WebhookDelivery

SETTING = "REFUND_BENCH_DELIVERY"
DEFAULT = "file:.refund-bench/outbox.jsonl"
DOMAIN = re.compile(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*")
FORMS = (
    "file:/path, https://host/path, http://host/path, or "
    "smtp://host:port?from=refunds@example.com&to={customer_id}@example.com"
)


def open_delivery(environment: Mapping[str, str]) -> Delivery:
    """The way out; nothing is connected to yet.

    Raises:
        Misconfigured: the setting names none; its value is not quoted, for it may hold a password.
    """
    setting = environment.get(SETTING) or DEFAULT
    scheme, _, rest = setting.partition(":")
    try:
        if scheme == "file" and rest:
            return FileDelivery(Path(rest[2:] if rest.startswith("///") else rest))
        if scheme in ("http", "https") and urlsplit(setting).hostname:
            urlsplit(setting).port  # noqa: B018 — reading it refuses one that is no number
            return WebhookDelivery(setting)
        if scheme == "smtp":
            return _smtp(setting)
    except ValueError as error:
        raise Misconfigured(f"{SETTING} cannot be read; it is one of {FORMS}") from error
    raise Misconfigured(f"{SETTING} names no way to deliver; it is one of {FORMS}")


def _smtp(setting: str) -> SmtpDelivery:
    parts = urlsplit(setting)
    query = parse_qs(parts.query, strict_parsing=True)
    [sender], [to] = query.get("from", [""]), query.get("to", [""])
    if parts.username is not None:
        raise ValueError("a login is not supported")
    if not parts.hostname or CUSTOMER_ID not in to.partition("@")[0]:
        raise ValueError("no host, or no {customer_id}")
    for address in (sender, to.replace(CUSTOMER_ID, "c")):
        local, _, domain = address.partition("@")
        if not LOCAL_PART.fullmatch(local) or not DOMAIN.fullmatch(domain):
            raise ValueError("not an address")
    return SmtpDelivery(parts.hostname, parts.port or 25, sender, to)
