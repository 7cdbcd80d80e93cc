"""Deterministic ids, so that a replay makes the same event and never a second one.

Where a customer's text is involved the id is an HMAC under the installation key: an id that leaks
does not let anyone test guesses of what the customer wrote.
"""

import hashlib
import hmac
import unicodedata


def normalise_text(text: str) -> str:
    """The form of a complaint that decides whether it is a repeat: NFKC, case and spaces folded."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def same_person(one: str, other: str) -> bool:
    """Whether two reviewers' names are one person's: `Asha` is no second pair of eyes for `asha`."""
    return normalise_text(one) == normalise_text(other)


def _digest(key: bytes, *parts: str) -> str:
    if not key:
        raise ValueError("the installation key is empty; set REFUND_BENCH_INSTALLATION_KEY")
    message = b"".join(len(raw).to_bytes(4, "big") + raw for raw in (p.encode() for p in parts))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def dispute_id(key: bytes, order_id: str, text: str) -> str:
    """The id of the dispute that this text about this order opens, or opened before.

    Raises:
        ValueError: an empty installation key.
    """
    return "d-" + _digest(key, order_id, normalise_text(text))[:24]


def customer_hash(key: bytes, customer_id: str) -> str:
    """What stands for a customer where they must not be named: in what was done to their data.

    Raises:
        ValueError: an empty installation key.
    """
    return "c-" + _digest(key, "customer", customer_id)[:24]


def grievance_id(dispute: str, index: int) -> str:
    """Grievances are numbered from 1 in the order in which the complaint makes them."""
    return f"{dispute}.g{index}"


def ruling_id(grievance: str, seat: int) -> str:
    return f"{grievance}.s{seat}"


def verdict_id(grievance: str, revision: int) -> str:
    return f"{grievance}.v{revision}"


def auto_key(dispute: str) -> str:
    """The id of a dispute's automatic proposal, decision and payment; never derived from content."""
    return f"{dispute}:auto"


def review_key(dispute: str, review: str) -> str:
    """The id of the proposal, decision and payment that one person's review authorises."""
    return f"{dispute}:review:{review}"


def operations_chain(subject: str) -> str:
    """The id of the audit chain of what was done to a subject; beside a dispute's own, never in it."""
    plain = f"operations:{subject}"
    return plain if len(plain) <= 200 else f"operations:{content_hash(subject.encode())}"


def evidence_hash(canonical: bytes) -> str:
    return "sha256:" + hashlib.sha256(canonical).hexdigest()


def content_hash(value: bytes) -> str:
    return "sha256:" + hashlib.sha256(value).hexdigest()
