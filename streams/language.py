"""Whether a text is in English, by the words that no English text does without."""

import re
import unicodedata

_FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "his",
        "i",
        "if",
        "in",
        "is",
        "it",
        "its",
        "me",
        "my",
        "no",
        "nor",
        "not",
        "of",
        "on",
        "only",
        "or",
        "our",
        "she",
        "so",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "which",
        "while",
        "who",
        "will",
        "with",
        "without",
        "would",
        "you",
        "your",
    ]
)
SHARE = 0.2
"""English prose holds about 0.4 of these; other languages in Latin letters under 0.1."""
SHORTEST = 12
"""Below so many words a share says nothing."""
_WORD = re.compile(r"[^\W\d_]+")


def is_english(text: str) -> bool:
    """Whether a text of a sentence or more is English. Text in another script never is; of a text too
    short to tell, only the script is looked at."""
    words = [word.casefold() for word in _WORD.findall(text)]
    letters = [char for word in words for char in word]
    if not letters:
        return True
    latin = sum(unicodedata.name(char, "").startswith("LATIN") for char in letters)
    if latin < 0.9 * len(letters):
        return False
    if len(words) < SHORTEST:
        return True
    return sum(word in _FUNCTION_WORDS for word in words) >= SHARE * len(words)
