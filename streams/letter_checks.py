"""What code checks in a drafted letter before a customer may get it. Each problem is worded for the re-ask."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from decimal import Decimal

from schemas.letter import LetterRequest
from schemas.money import EXPONENTS, SYMBOLS, exponent, show
from streams.language import is_english
from streams.letter_templates import LetterWords

MIN_SENTENCES, MAX_SENTENCES, MAX_CHARACTERS = 3, 4, 1200
"""A decision that pays one matter, closes a second unpaid and leaves a third to a person gets one more."""
MOST_COUNTED = 12
"""A bare number up to it counts things. A higher one that no line says is read as money."""

_CODES = "|".join((*EXPONENTS, "CAD", "AUD", "CNY", "CHF"))
_MONEY = re.compile(
    rf"(?P<before>[$€£¥¢฿\u20a0-\u20cf]|\b(?:rs\.?|n|{_CODES})(?=[\s\d]))?\s?"
    r"(?P<number>\d[\d,]*(?:\.\d+)?)"
    rf"(?:\s?(?P<after>[$€£¥¢฿\u20a0-\u20cf]|rupees?|naira|paise|kobo|dollars?|euros?|pounds?|yen\b|rs\b|(?:{_CODES})\b"
    r"|k\b|lakhs?\b|crores?\b|thousand|million|hundred|%|per ?cent|/-))?",
    re.IGNORECASE,
)
_NAMES = {
    "INR": ("rs", "rs.", "rupee", "rupees", "/-"),
    "NGN": ("n", "naira"),
    "USD": ("dollar", "dollars"),
    "EUR": ("euro", "euros"),
    "GBP": ("pound", "pounds"),
    "JPY": ("yen",),
}
"""What people write beside an amount, other than its currency's symbol and code."""
_SAID_MONEY = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
    r"|hundred|thousand|lakh|million)\b(?:[ -]\w+){0,8}? (?:rupees?|naira|dollars?|paise|kobo)\b"
    r"|\b(?:half|double|triple|all) (?:of )?(?:your|the) (?:money|bill|price|amount|order value)\b",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\b(?:\d+|an?|one|two|three|four|five|six|seven|ten|few|couple of)(?:[ -](?:to|–|-)[ -]\d+)?[ -]"
    r"(?:working |business |calendar )?(?:minutes?|hours?|days?|weeks?|months?)\b|\b(?:today|tomorrow|tonight|immediately|right away|instantly)\b",
    re.IGNORECASE,
)
_LINKS = re.compile(r"https?:|www\.|\b\w[\w-]*\.[a-z]{2,}\b|\S@\S", re.IGNORECASE)
_PHONES = re.compile(
    r"(?<![\d.,₹₦])\+?\d(?:[\s().-]?\d){7,}|\b(?:call|whatsapp|text|dial|phone|ring) (?:us|me|our|on|at)\b",
    re.IGNORECASE,
)
_PROMISES = re.compile(
    r"\b(?:guarantee\w*|promise\w*|assure\w*|vouchers?|coupons?|discounts?|gift|bonus|points|compensat\w+|goodwill|free of charge"
    r"|for free|never happen again|(?:not|n't) happen again|next order|make (?:it )?up (?:to|for)|extra credit|full (?:refund|price|amount)|legal|sue|disciplin\w+|fired?|penali[sz]e\w*"
    r"|(?:will|shall|going to|'ll) (?:also )?(?:refund|pay|credit|return|reimburse|send you|replace|resend))\b",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:faults?|to blame|blame[sd]?|negligen\w+|careless\w*|incompeten\w+|(?:their|his|her|your) (?:own )?(?:mistake|error)|responsible for"
    r"|you (?:should have|failed|forgot|did not|didn't)|caused by (?:the|your|our))\b",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b(?:failed|forgot\w*|did not|didn't|should have|mistakes?|errors?|mishandled|spilled|lost|delayed|caused|because of|due to|rude\w*|wrong\w*|let you down|poor)\b",
    re.IGNORECASE,
)
_PARTIES = (
    "restaurant*",
    "courier*",
    "rider*",
    "driver*",
    "kitchen*",
    "merchant*",
    "seller*",
    "shop*",
    "agent*",
    "cashier*",
)
_APOLOGY = re.compile(r"\b(?:sorry|apolog\w+|regret\w*|forgive\w*|pardon)\b", re.IGNORECASE)
_GROVEL = re.compile(
    r"\b(?:deeply|sincerely|terribly|profusely|truly sorry|extremely sorry|unacceptable|inexcusable)\b",
    re.IGNORECASE,
)
_LAYOUT = re.compile(r"^\s*(?:#|[-*•] |\d+[.)] )|```|^\s*[{[]|\*\*", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<!\bRs)(?<!\bNo)[.!?।]+(?=\s|$|[\"')])")


def problems(
    body: str, request: LetterRequest, words: LetterWords, categories: Sequence[str]
) -> tuple[str, ...]:
    """Everything that keeps a draft from being sent; nothing where it may go.

    Args:
        categories: every category of the pack; those without a line must not be mentioned.
    """
    text = unicodedata.normalize("NFKC", body).strip()
    if not text:
        return ("the letter is empty",)
    if len(text) > MAX_CHARACTERS:
        # Nothing else is looked at: the patterns are made for a letter, not for a megabyte.
        return (f"it is {len(text)} characters long; at most {MAX_CHARACTERS}",)
    free = _without(text, (*request.promises.values(), request.order_id))
    topics = [words.topic(line.category) for line in request.lines]
    return (
        *_language(text),
        *_length(text, _most_sentences(request)),
        *_amounts(free, request),
        *_beyond(free),
        *_tone(_without(text, topics), words),
        *_unmentionable(_without(free, topics), request, words, categories),
    )


def _without(text: str, allowed: Sequence[str]) -> str:
    for said in allowed:
        if said:
            text = re.sub(re.escape(said.rstrip(".")), " ", text, flags=re.IGNORECASE)
    return text


def _language(text: str) -> Iterator[str]:
    """The checks below know English words; a letter in another language would pass them unread, and so
    would a word with a letter of another script, an accent or an invisible character put into it."""
    odd = sorted({char for char in text if not _is_plain(char)})
    if odd:
        names = ", ".join(unicodedata.name(char, f"U+{ord(char):04X}") for char in odd[:5])
        yield f"it holds {names}; write Latin letters only"
    elif not is_english(text):
        yield "it is not in English; write it in simple English"


def _is_plain(char: str) -> bool:
    """Whether a reader, and a pattern, sees in it what it is."""
    if char.isalpha():
        return unicodedata.name(char, "").startswith("LATIN")
    return char == "\n" or unicodedata.category(char)[0] not in "CM"


def _most_sentences(request: LetterRequest) -> int:
    ends = {(line.state, line.amount_minor > 0) for line in request.lines}
    return MAX_SENTENCES + (len(ends) > 2)


def _length(text: str, most: int) -> Iterator[str]:
    sentences = len(_SENTENCE_END.findall(text)) + (0 if re.search(r"[.!?।][\"')]*$", text) else 1)
    if not MIN_SENTENCES <= sentences <= most:
        yield f"it has {sentences} sentences; write {MIN_SENTENCES} to {most}"
    if _LAYOUT.search(text):
        yield "it has headings, lists or markup; write plain sentences"


def _amounts(text: str, request: LetterRequest) -> Iterator[str]:
    """The total must be stated, and beside it no amount but the decision's own lines'."""
    unit = 10 ** exponent(request.currency)
    paid = request.paid_minor
    lines = {
        line.amount_minor
        for line in request.lines
        if line.state == "resolved" and line.amount_minor
    }
    allowed = {paid, *lines} if paid else set()
    told = set(re.findall(r"\b\d{1,2}\b", " ".join(line.text for line in request.lines)))
    code = request.currency
    own = {"", code.lower(), SYMBOLS.get(code, ""), *_NAMES.get(code, ())}
    stated = False
    for found in _MONEY.finditer(text):
        digits = found["number"].replace(",", "")
        value = Decimal(digits.rstrip("."))
        minor = value * unit
        after = (found["after"] or "").lower()
        looks = bool(
            found["before"]
            or after
            or (value > MOST_COUNTED and digits not in told)
            or re.search(r"\.\d{2}$", digits)
            or re.search(r"\d,\d{3}", found["number"])
        )
        if not looks:
            continue
        marks = {(found["before"] or "").lower(), after}
        if minor in allowed and marks <= own:
            stated = stated or minor == paid
        else:
            yield f"{found.group().strip()!r} is not an amount of this decision; state no other amount than {show(paid, request.currency) if paid else 'none at all'}"
    if said := _SAID_MONEY.search(text):
        yield f"{said.group()!r} is an amount in words; state amounts only as given"
    if paid and not stated:
        yield f"the amount paid, {show(paid, request.currency)}, is not stated"


def _beyond(text: str) -> Iterator[str]:
    if found := _LINKS.search(text):
        yield f"{found.group()!r} looks like a link or an address; give none"
    if found := _PHONES.search(text):
        yield f"{found.group()!r} looks like a telephone number or an invitation to call; give none"
    if found := _PROMISES.search(text):
        yield f"{found.group()!r} promises something that is not among the promises"
    if found := _DURATION.search(text):
        yield f"{found.group()!r} is a time that is not among the promises; use their words"


def _tone(text: str, words: LetterWords) -> Iterator[str]:
    apologies = len(_APOLOGY.findall(text))
    if apologies > 1:
        yield f"it apologises {apologies} times; at most once"
    if found := _GROVEL.search(text):
        yield f"{found.group()!r} grovels; acknowledge plainly"
    party = _any_of((*words.parties, *_PARTIES))
    for sentence in _SENTENCE_END.split(text):
        fault = _FAULT.search(sentence) or (
            _FAILED.search(sentence) if party and party.search(sentence) else None
        )
        if fault:
            yield f"{fault.group()!r} in {sentence.strip()[:80]!r} blames somebody; blame nobody"


def _unmentionable(
    text: str, request: LetterRequest, words: LetterWords, categories: Sequence[str]
) -> Iterator[str]:
    told = {line.category for line in request.lines}
    own = {mention for category in told for mention in words.mentions.get(category, ())}
    for category in categories:
        if category in told:
            continue
        pattern = _any_of([m for m in words.mentions.get(category, ()) if m not in own])
        if pattern and (found := pattern.search(text)):
            yield f"{found.group()!r} speaks of something that is not among the lines; leave it out"


def _any_of(stems: Sequence[str]) -> re.Pattern[str] | None:
    """`stem*` and whole words as one pattern."""
    if not stems:
        return None
    parts = (re.escape(stem.rstrip("*")) + (r"\w*" if stem.endswith("*") else "") for stem in stems)
    return re.compile(rf"\b(?:{'|'.join(parts)})\b", re.IGNORECASE)
