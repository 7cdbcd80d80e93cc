"""Letters and claims are in English, whatever the complaint is in."""

import pytest

from streams.language import is_english
from tests.unit.reading.sentences import SENTENCES

ENGLISH = (
    "We looked at the late delivery of your order and ₹49.00 has been refunded to you. The refund goes back to the "
    "way you paid within 3 working days. A colleague will look at the rest and answer within 24 hours."
)
OTHER = {
    "Hindi": "आपके ऑर्डर की देरी की जाँच हो गई है। ₹49.00 वापस कर दिए गए हैं। बाकी एक सहकर्मी देखेगा।",
    "Hinglish": (
        "Aapke order ki deri ki jaanch ho gayi hai aur paise wapas kar diye gaye hain. Baaki ek sahkarmi dekhega aur "
        "chaubees ghante mein jawab dega, dhanyavaad aapka."
    ),
    "Yoruba": (
        "A ti wo oro yin nipa ounje ti o pe de, a si ti da owo yin pada. Elegbe wa yoo wo eyi to ku, yoo si fun yin "
        "ni esi laarin ojo kan pere."
    ),
    "French": (
        "Nous avons examiné le retard de votre commande et le montant vous sera remboursé. Un collègue examinera le "
        "reste et vous répondra sous vingt-quatre heures."
    ),
}  # fmt: skip


def test_an_english_letter_is_english() -> None:
    assert is_english(ENGLISH)


@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_a_letter_in_another_language_is_not(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "claim",
    [
        "Packaging fee charged twice.",
        "Veg Manchurian missing.",
        "Order L1 delivered 85 minutes late.",
        "₹60",
    ],
)
def test_a_short_claim_is_not_taken_for_another_language(claim: str) -> None:
    assert is_english(claim)


def test_a_short_claim_in_another_script_is() -> None:
    assert not is_english("खाना ठंडा था")


def test_what_customers_write_in_english_is_english() -> None:
    plain = [s.text for s in SENTENCES if len(s.text.split()) >= 12]
    assert sum(map(is_english, plain)) >= 0.9 * len(plain)
