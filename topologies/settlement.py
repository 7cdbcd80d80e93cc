"""dockets, verdicts, reviews, decisions, payments, deadlines ► settlement ► proposals, letter-requests, timers."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from schemas.base import Model
from schemas.docket import Docket
from schemas.payment import Payment
from schemas.review import Review
from schemas.timer import Deadline
from schemas.topics import (
    DEADLINES,
    DECISIONS,
    DOCKETS,
    LETTER_REQUESTS,
    PAYMENTS,
    PROPOSALS,
    REVIEWS,
    TIMERS,
    VERDICTS,
    Topic,
)
from schemas.verdict import Verdict
from streams import settlement
from streams.order_book import OrderBook
from streams.sealing import DecisionSeal
from streams.settlement import Settlement
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings


def stage(settings: Settings) -> KeyedStage[OrderBook]:
    """The settlement app."""
    decide = Settlement(settings.packs())

    def source(
        topic: Topic,
        read: Callable[[bytes], Model],
        step: Callable[[OrderBook, Any, datetime], settlement.Step],
    ) -> Source[OrderBook]:
        def take(book: OrderBook | None, record: Record) -> settlement.Step:
            after, emits = step(book or OrderBook(), record.event, record.at)
            return (book if after == OrderBook() and book is None else after), emits

        return Source(topic, read, lambda e: e.settles_under, take)

    def on_deadline(book: OrderBook | None, record: Record) -> settlement.Step:
        if book is None or record.event.stage != settlement.STAGE:
            return book, []
        return decide.on_deadline(book, record.event, record.at)

    return KeyedStage(
        settlement.STAGE,
        OrderBook,
        (
            source(DOCKETS, Docket.from_bytes, decide.on_docket),
            source(VERDICTS, Verdict.from_bytes, decide.on_verdict),
            source(REVIEWS, Review.from_bytes, decide.on_review),
            source(DECISIONS, DecisionSeal(settings.installation_key).read, decide.on_decision),
            source(PAYMENTS, Payment.from_bytes, decide.on_payment),
            Source(DEADLINES, Deadline.from_bytes, lambda d: d.waiting_key, on_deadline),
        ),
        (PROPOSALS, LETTER_REQUESTS, TIMERS),
        DeadLetterBox(settings.installation_key),
    )
