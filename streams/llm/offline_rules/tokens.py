"""A complaint as tokens that know where they stand in the text, in sentences and clauses."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "single": 1, "both": 2, "couple": 2, "pair": 2, "dozen": 12, "ek": 1, "dono": 2,
    "do": 2, "teen": 3, "char": 4, "chaar": 4, "paanch": 5, "panch": 5, "chhe": 6, "saat": 7, "aath": 8,
}  # fmt: skip

NUMBER, CLOCK, MONEY, DURATION, WEIGHT, ITEM = "#", "@", "$", "~", "%", "¤"
"""Marks that a token carries beside its word; patterns ask for them as {number}, {clock}, …"""

_UNITS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_SCALES = "hundred|thousand|million|lakh|crore|hazar|sau"
_SAID = rf"(?:{_UNITS}|half an?|an?|one and a half|(?:a )?couple of|(?:a )?few|several|ek|do|teen|dedh|dhai)"
_TIME = r"(?:minutes?|mins?|hours?|hrs?|ghante?|ghanta|days?|weeks?|months?)"
_MASS = r"(?:kgs?|kilos?|kilograms?|gms?|grams?|g|ltrs?|lit(?:re|er)s?|ml)"
_CURRENCY = r"(?:[₦₹$€£]|\b(?:n|ngn|inr|rs\.?|usd))"
_AFTER = r"(?:k|naira|rupees?|rupaye|rs|bucks|inr|ngn|thousand|million|lakhs?|hazar)"
_KINDS: tuple[tuple[str, str], ...] = (
    (CLOCK, r"\d{1,2}:\d{2}(?: ?(?:[ap]m\b|[ap]\.m\.?))?|\d{1,2}(?:\.\d{2})? ?(?:[ap]m\b|[ap]\.m\.?)"),
    (CLOCK, r"\d{1,2} ?o'?clock\b|\d{1,2} ?baje\b|\b(?:noon|midnight)\b"),
    (CLOCK, rf"\b(?:half|quarter|{_UNITS}|\d{{1,2}}) (?:past|to) (?:{_UNITS}|\d{{1,2}})\b"),
    (CLOCK, rf"(?<=\bat )(?:{_UNITS}|\d{{1,2}})(?= (?:in the|at night|and|but|it|when|then|sharp|or)\b|[.,!?]|$)"),
    (CLOCK, rf"(?<=\b(?:past|till) )(?:{_UNITS}|\d{{1,2}})(?= (?:in the|and|but|it|when|before|by|already)\b|[.,!?]|$)"),
    (WEIGHT, rf"\d+(?:\.\d+)? ?{_MASS}\b|{_SAID} {_MASS}\b"),
    (DURATION, rf"\d+(?:\.\d+)?\+?[ -]?(?:{_TIME}|h)\b|{_SAID}[ -]+{_TIME}\b"),
    (MONEY, rf"{_CURRENCY} ?\d[\d,]{{0,15}}(?:\.\d+)?(?: ?(?:k|m|lakhs?|thousand|million)\b)?(?:/-)?"),
    (MONEY, rf"\d[\d,]{{0,15}}(?:\.\d+)?(?: ?{_AFTER}\b|/-)|\d{{1,3}}(?:,\d{{2,3}})+(?:\.\d+)?"),
    (MONEY, r"\d{3,}(?:\.\d{2})?\b|\d+\.\d{2}\b"),
    (MONEY, rf"(?:{_UNITS}|a) (?:{_SCALES})\b(?:(?:,? and |, ?|[ -])(?:{_UNITS}|{_SCALES})\b)*(?: {_AFTER}\b)?"),
    (NUMBER, r"\d+(?:\.\d+)?"),
    ("", r"(?:[^\W\d_][\u0300-\u036f\u0900-\u0903\u093a-\u094f]*)+(?:['’](?:[^\W\d_])+)*"),
    ("", r"[,;:()\n.!?…–—]|(?<=\s)-(?=\s)|[&+]"),
)  # fmt: skip
_TOKEN = re.compile("|".join(f"({pattern})" for _, pattern in _KINDS), re.IGNORECASE)
_STOPS = frozenset(".!?…\n")
_PAUSES = frozenset({",", ";", ":", "(", ")", "-", "–", "—", "&", "+"})
_JOINERS = frozenset(
    {
        "and",
        "but",
        "aur",
        "lekin",
        "magar",
        "plus",
        "while",
        "whereas",
        "then",
        "yet",
        "although",
        "though",
    }
)
_NOT = re.compile(
    r"^(do|does|did|was|were|is|are|have|has|had|ca|could|wo|would|should|ai)n['’]?t$"
)
_SHORT = re.compile(r"^([a-z]+)['’](s|re|ve|m|d|ll)$")
_REPEATED = re.compile(r"([^\W\d_])\1{2,}")


@dataclass(frozen=True)
class Token:
    """One word as rules read it; several tokens may stand on the same characters ("didn't")."""

    word: str
    start: int
    end: int
    marks: str = ""

    @property
    def is_word(self) -> bool:
        return self.word not in _STOPS and self.word not in _PAUSES

    @property
    def number(self) -> int | None:
        """The count the token names, or None."""
        if NUMBER not in self.marks:
            return None
        if self.word in NUMBERS:
            return NUMBERS[self.word]
        return int(self.word) if self.word.isdecimal() and len(self.word) < 6 else None


LONGEST = 120
"""Words after which a sentence is taken to have ended, whatever its writer thinks."""

Clause = tuple[Token, ...]
Sentence = tuple[Clause, ...]


_SLIPS = {
    "recieved": "received", "recieve": "receive", "recived": "received", "recive": "receive",
    "delivary": "delivery", "delivry": "delivery", "dilivery": "delivery", "delievery": "delivery",
    "deliverd": "delivered", "delievered": "delivered", "dilivered": "delivered",
    "mising": "missing", "missin": "missing", "missng": "missing", "misssing": "missing",
    "ordred": "ordered", "orderd": "ordered", "oder": "order", "oderd": "ordered",
    "spiled": "spilled", "leeked": "leaked", "rood": "rude", "wronge": "wrong",
    "transfered": "transferred", "tranfer": "transfer", "trasfer": "transfer", "debitted": "debited",
    "debitd": "debited", "arived": "arrived", "arrvied": "arrived", "waitd": "waited", "cancled": "cancelled",
}  # fmt: skip
"""Slips of the pen that complaints are full of."""


def _plain(word: str) -> str:
    bare = "".join(
        c for c in unicodedata.normalize("NFKD", word.casefold()) if not "\u0300" <= c <= "\u036f"
    )
    bare = _REPEATED.sub(r"\1", bare)
    return _SLIPS.get(bare, bare)


def tokenise(text: str) -> list[Token]:
    """Words with their marks, and the punctuation that ends clauses and sentences."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, _ = _KINDS[(match.lastindex or 1) - 1]
        word = _plain(match.group())
        start, end = match.span()
        if kind:
            found.append(Token(re.sub(r"\s+", "", word), start, end, kind))
        elif negated := _NOT.match(word):
            base = {"ca": "can", "wo": "will", "ai": "is"}.get(negated[1], negated[1])
            found += [Token(base, start, end), Token("not", start, end)]
        elif short := _SHORT.match(word):
            found += [
                Token(short[1], start, end),
                Token({"s": "is"}.get(short[2], short[2]), start, end),
            ]
        elif word == "cannot":
            found += [Token("can", start, end), Token("not", start, end)]
        else:
            found.append(
                Token(word, start, end, NUMBER if word in NUMBERS and word != "do" else "")
            )
    return [_hindi_two(token, found[i + 1 : i + 2]) for i, token in enumerate(found)]


def _hindi_two(token: Token, following: Sequence[Token]) -> Token:
    """ "do" is a number in Hindi where what follows says so: "do hi mile", "do baar"."""
    if (
        token.word == "do"
        and following
        and following[0].word in {"hi", "baar", "mile", "aaye", "plate", "box"}
    ):
        return replace(token, marks=NUMBER)
    return token


def _split(tokens: Sequence[Token], ends: frozenset[str]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.word in ends:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


@dataclass(frozen=True)
class Statement:
    """A sentence in its clauses, and whether it ends in a question mark."""

    clauses: Sentence
    is_question: bool

    @property
    def words(self) -> Clause:
        return tuple(token for clause in self.clauses for token in clause)

    @property
    def span(self) -> tuple[int, int]:
        return span(self.words)


def span(tokens: Sequence[Token]) -> tuple[int, int]:
    return min(token.start for token in tokens), max(token.end for token in tokens)


def statements(text: str) -> list[Statement]:
    """The sentences of a text; those without a word are none."""
    found: list[Statement] = []
    pending: list[Token] = []
    for token in [*tokenise(text), Token(".", len(text), len(text))]:
        if token.word not in _STOPS and len(pending) < LONGEST:
            pending.append(token)
            continue
        clauses = tuple(
            tuple(word for word in clause if word.is_word)
            for clause in _split(pending, _PAUSES | _JOINERS)
        )
        if kept := tuple(clause for clause in clauses if clause):
            found.append(Statement(kept, token.word == "?"))
        pending = [] if token.word in _STOPS else [token]
    return found
