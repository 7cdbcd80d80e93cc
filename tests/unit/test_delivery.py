"""Letters leave by file, webhook or mail: once per answer, under one id, with a receipt that has no words."""

import asyncio
import email
import email.policy
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from aiohttp import web

from ops.local.ports import free_port
from schemas.dead_letter import DeadLetter
from schemas.letter import Letter
from schemas.receipt import Receipt
from streams.delivery.file import FileDelivery
from streams.delivery.port import Misconfigured, NotDelivered, Undeliverable
from streams.delivery.registry import open_delivery
from streams.delivery.smtp import SmtpDelivery
from streams.delivery.webhook import WebhookDelivery
from tests.unit.stages.events import a_letter
from topologies import delivery
from topologies.async_stage import AsyncStage, Message, RetryLater
from topologies.settings import Settings

WORDS = "₹689.00 is on its way; the raita is with a colleague."
LETTER = a_letter(body=WORDS, simulated=True)
SETTINGS = Settings.from_environment({"REFUND_BENCH_INSTALLATION_KEY": "a test's installation key"})


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


pytestmark = pytest.mark.anyio


# Into a file.


async def test_a_file_gets_one_line_per_letter(tmp_path: Path) -> None:
    out = FileDelivery(tmp_path / "new" / "outbox.jsonl")
    letters = [a_letter(letter_id=f"L{n}", body=WORDS * n) for n in range(40)]
    references = await asyncio.gather(*(out.send(letter) for letter in letters))
    assert references == [f"file:L{n}" for n in range(40)]
    lines = out.path.read_bytes().splitlines()
    held = sorted((Letter.from_bytes(line) for line in lines), key=lambda each: each.letter_id)
    assert held == sorted(letters, key=lambda each: each.letter_id)
    assert out.path.stat().st_mode & 0o077 == 0, "customers' words are for their user only"


async def test_a_line_that_was_cut_does_not_spoil_the_next(tmp_path: Path) -> None:
    file = tmp_path / "outbox.jsonl"
    file.write_bytes(b'{"letter_id": "cut')
    await FileDelivery(file).send(LETTER)
    assert Letter.from_bytes(file.read_bytes().splitlines()[1]) == LETTER


async def test_a_file_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").touch()
    with pytest.raises(NotDelivered, match="Error"):
        await FileDelivery(tmp_path / "in-the-way" / "outbox.jsonl").send(LETTER)


# By webhook.


@asynccontextmanager
async def webhook(*answers: web.Response) -> AsyncIterator[tuple[WebhookDelivery, list[Any]]]:
    waiting, seen = list(answers), []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers["Idempotency-Key"], await request.read()))
        return waiting.pop(0)

    app = web.Application()
    app.router.add_post("/letters", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    out = WebhookDelivery(f"http://127.0.0.1:{port}/letters")
    try:
        yield out, seen
    finally:
        await out.aclose()
        await runner.cleanup()


async def test_a_webhook_that_fails_is_tried_again_under_the_same_key() -> None:
    async with webhook(web.Response(status=500), web.Response(status=200)) as (out, seen):
        with pytest.raises(NotDelivered, match="500"):
            await out.send(LETTER)
        assert await out.send(LETTER) == f"webhook:{LETTER.letter_id}"
    assert seen == [(LETTER.letter_id, LETTER.to_bytes())] * 2


@pytest.mark.parametrize(
    ("status", "headers", "expected", "after_s"),
    [
        (202, {}, None, None),
        (204, {}, None, None),
        (302, {"Location": "http://127.0.0.1:1/"}, NotDelivered, None),
        (400, {}, Undeliverable, None),
        (401, {}, NotDelivered, None),
        (404, {}, NotDelivered, None),
        (408, {}, NotDelivered, None),
        (410, {}, Undeliverable, None),
        (429, {"Retry-After": "7"}, NotDelivered, 7.0),
        (503, {"Retry-After": "99999"}, NotDelivered, 60.0),
    ],
)
async def test_what_the_webhook_says_is_taken_for_what_it_is(
    status: int, headers: dict[str, str], expected: type[Exception] | None, after_s: float | None
) -> None:
    async with webhook(web.Response(status=status, headers=headers)) as (out, _):
        if expected is None:
            await out.send(LETTER)
            return
        with pytest.raises(expected, match=str(status)) as failed:
            await out.send(LETTER)
        assert getattr(failed.value, "retry_after_s", None) == after_s


async def test_nobody_at_the_address_is_tried_again_and_the_address_not_told() -> None:
    out = WebhookDelivery(f"http://user:secret@127.0.0.1:{free_port()}/letters")
    with pytest.raises(NotDelivered) as failed:
        await out.send(LETTER)
    await out.aclose()
    assert "secret" not in str(failed.value)


# By mail.


@asynccontextmanager
async def relay(**answers: str) -> AsyncIterator[tuple[SmtpDelivery, list[bytes]]]:
    """An SMTP server that says OK to everything, but for the verbs in `answers`; `END` answers the mail."""
    mails: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        while line := await reader.readline():
            verb = line.split()[0].decode().upper()
            answer = answers.get(verb, {"DATA": "354 go on", "QUIT": "221 bye"}.get(verb, "250 OK"))
            writer.write(answer.encode() + b"\r\n")
            if verb == "DATA" and answer.startswith("354"):
                mails.append(await reader.readuntil(b"\r\n.\r\n"))
                writer.write(answers.get("END", "250 taken").encode() + b"\r\n")
            if verb == "QUIT":
                break
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    to = "{customer_id}@customers.example"
    setting = f"smtp://127.0.0.1:{port}?from=refunds@bench.example&to={to}"
    out = open_delivery({"REFUND_BENCH_DELIVERY": setting})
    assert isinstance(out, SmtpDelivery)
    async with server:
        yield out, mails


async def test_a_mail_says_who_it_is_for_and_has_the_letters_words() -> None:
    async with relay() as (out, mails):
        references = [await out.send(LETTER), await out.send(LETTER)]
    assert references == [f"<{quote(LETTER.letter_id)}@bench.example>"] * 2
    mail = email.message_from_bytes(mails[0], policy=email.policy.default)
    assert mail["To"] == f"{LETTER.customer_id}@customers.example"
    assert mail["From"] == "refunds@bench.example"
    assert mail["Message-ID"] == references[0]
    assert mail["X-Refund-Bench-Simulated"] == "true"
    assert WORDS in mail.get_content()
    assert mails[0] == mails[1], "a repeat is the same mail"


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"RCPT": "550 no such user"}, Undeliverable),
        ({"RCPT": "450 mailbox busy"}, NotDelivered),
        ({"RCPT": "530 log in first"}, NotDelivered),
        ({"MAIL": "550 not you"}, NotDelivered),
        ({"END": "554 no"}, Undeliverable),
        ({"END": "452 disk full"}, NotDelivered),
        ({"QUIT": "500 what"}, None),
    ],
    ids=str,
)
async def test_what_the_relay_says_is_taken_for_what_it_is(
    answers: dict[str, str], expected: type[Exception] | None
) -> None:
    async with relay(**answers) as (out, _):
        if expected is None:
            await out.send(LETTER)
            return
        with pytest.raises(expected) as failed:
            await out.send(LETTER)
    assert "user" not in str(failed.value)


async def test_no_relay_is_tried_again() -> None:
    with pytest.raises(NotDelivered):
        await SmtpDelivery("127.0.0.1", free_port(), "a@b.example", "{customer_id}@c.example").send(
            LETTER
        )


@pytest.mark.parametrize("customer", ["a@evil.example,b", "a,b", "<a>", "a@b", "é", "x" * 65, '"a'])
def test_a_customers_id_never_becomes_another_address(customer: str) -> None:
    out = SmtpDelivery("127.0.0.1", 25, "a@b.example", "{customer_id}@c.example")
    with pytest.raises(Undeliverable):
        out.compose(a_letter(customer_id=customer))


@pytest.mark.parametrize("letter_id", ["x" * 200, "a>b", "é@x", "a..b.", "d:e", "é" * 200])
def test_any_letter_id_makes_a_message_id_in_one_line(letter_id: str) -> None:
    out = SmtpDelivery("127.0.0.1", 25, "a@b.example", "{customer_id}@c.example")
    raw = out.compose(a_letter(letter_id=letter_id)).as_bytes()
    [line] = [line for line in raw.splitlines() if line.startswith(b"Message-ID:")]
    assert line.endswith(b"@b.example>")
    parsed = email.message_from_bytes(raw, policy=email.policy.default)["Message-ID"]
    assert f"Message-ID: {parsed}".encode() == line, "it is read as it was written"


# Which one it is.


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("", ".refund-bench/outbox.jsonl"),
        ("file:/a/b#c.jsonl", "/a/b#c.jsonl"),
        ("file:///a/b", "/a/b"),
    ],
)
def test_a_file_is_named_by_its_path(setting: str, path: str) -> None:
    out = open_delivery({"REFUND_BENCH_DELIVERY": setting})
    assert isinstance(out, FileDelivery)
    assert out.path == Path(path)


@pytest.mark.parametrize(
    "setting",
    [
        "file:",
        "ftp://secret/x",
        "outbox.jsonl",
        "http://",
        "https://host:port/",
        "smtp://host",
        "smtp://?from=a@b&to={customer_id}@c",
        "smtp://host:25?from=a@b&to=one@c",
        "smtp://host:25?from=a&to={customer_id}@c",
        "smtp://host:25?from=a@b&to={customer_id}@c,d@e",
        "smtp://user:secret@host:25?from=a@b&to={customer_id}@c",
    ],
)
def test_a_setting_that_names_no_way_out_is_refused_without_being_quoted(setting: str) -> None:
    with pytest.raises(Misconfigured, match="REFUND_BENCH_DELIVERY") as refused:
        open_delivery({"REFUND_BENCH_DELIVERY": setting})
    assert "secret" not in str(refused.value)


# The stage.


def a_stage(monkeypatch: pytest.MonkeyPatch, send: Callable[[Letter], str]) -> AsyncStage:
    class Out:
        channel = "webhook"

        async def send(self, letter: Letter) -> str:
            return send(letter)

    monkeypatch.setattr(delivery, "open_delivery", lambda environment: Out())
    return delivery.stage(SETTINGS)


def message(attempt: int = 1) -> Message:
    key = LETTER.settles_under.encode()
    return Message("letters", 0, 7, key, LETTER.to_bytes(), attempt=attempt)


async def test_a_letter_delivered_has_a_receipt_without_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    [out] = await a_stage(monkeypatch, lambda letter: "webhook:x").handler(message(attempt=3))
    receipt = Receipt.from_bytes(out.value)
    assert (out.topic, out.key.decode()) == ("receipts", LETTER.settles_under)
    assert (receipt.letter_id, receipt.reference, receipt.attempts) == (
        LETTER.letter_id,
        "webhook:x",
        3,
    )
    assert (receipt.channel, receipt.simulated, receipt.pack) == ("webhook", True, LETTER.pack)
    assert not any(WORDS in str(value) for value in orjson.loads(out.value).values())


async def test_what_was_not_taken_is_tried_again_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def busy(_: Letter) -> str:
        raise NotDelivered("busy", 5.0)

    stage = a_stage(monkeypatch, busy)
    with pytest.raises(RetryLater) as later:
        await stage.handler(message())
    assert later.value.after_s == 5.0
    assert stage.settings.deadline_s == float("inf")


async def test_a_definite_refusal_is_a_dead_letter_that_quotes_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: Letter) -> str:
        raise Undeliverable("smtp answered 550")

    stage = a_stage(monkeypatch, refuse)
    with pytest.raises(Undeliverable) as refused:
        await stage.handler(message())
    assert stage.dead_letter is not None
    sealed = stage.dead_letter(message(), refused.value)
    letter = DeadLetter.from_bytes(sealed.value)
    assert (letter.stage, letter.error) == ("delivery", "Undeliverable: smtp answered 550")
    assert WORDS.encode() not in sealed.value


def test_the_app_reads_its_setting_when_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "REFUND_BENCH_DELIVERY", "ftp://nowhere")
    with pytest.raises(Misconfigured):
        delivery.stage(SETTINGS)
