"""A pack's prompts, each with the hash that is recorded on whatever it led to."""

from schemas.ids import content_hash
from schemas.pack import prompt_name
from streams.llm.port import Misconfigured, Prompt
from streams.policies.loader import LoadedPack


def hash_of(text: str) -> str:
    """The hash by which a prompt is named on events."""
    return content_hash(text.encode())


def prompt(pack: LoadedPack, name: str) -> Prompt:
    """The prompt `prompts/<name>.md` of a pack.

    Raises:
        Misconfigured: the pack has none of that name.
    """
    text = pack.prompts.get(name)
    if text is None:
        raise Misconfigured(
            f"pack {pack.pack.policy} v{pack.pack.version} has no prompts/{name}.md; add it"
        )
    return Prompt(name, text, hash_of(text))


def extraction_prompt(pack: LoadedPack) -> Prompt:
    """The extraction prompt of the variant that the pack picks.

    Raises:
        Misconfigured: the pack has no such variant.
    """
    return prompt(pack, prompt_name("extraction", pack.pack.extraction.prompt_variant))


def letter_prompt(pack: LoadedPack) -> Prompt:
    """The letter prompt of the variant that the pack picks.

    Raises:
        Misconfigured: the pack has no such variant.
    """
    return prompt(pack, prompt_name("letter", pack.pack.letter.prompt_variant))


def judge_prompt(pack: LoadedPack, variant: str) -> Prompt:
    """The judging prompt of a variant that a seat picks.

    Raises:
        Misconfigured: the pack has no such variant.
    """
    return prompt(pack, prompt_name("judge", variant))
