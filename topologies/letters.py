"""letter-requests ► letters ► letters."""

from schemas.letter import Letter, LetterRequest
from schemas.topics import LETTER_REQUESTS, LETTERS
from streams.emit import Emit, emit
from streams.letters import from_template, write
from topologies.async_stage import AsyncStage, Message, StageSettings
from topologies.models import Gates, PackModels
from topologies.network_stage import network_stage, now, usage_of
from topologies.settings import Settings


def stage(settings: Settings, gates: Gates) -> AsyncStage:
    """The letters app. A model that cannot be had in time is no reason to leave a customer without word."""
    packs = settings.packs()
    models = PackModels(settings, gates, lambda pack: pack.letter)

    async def handle(request: LetterRequest, message: Message) -> list[Emit]:
        pack = packs.get(request.pack.policy, request.pack.pack_version)
        letter = await write(request, pack, models.needed(request.pack), now)
        return [emit(LETTERS, _counted(letter, message))]

    def exhausted(request: LetterRequest, reason: str, message: Message) -> list[Emit]:
        pack = packs.get(request.pack.policy, request.pack.pack_version)
        return [emit(LETTERS, _counted(from_template(request, pack, reason, now), message))]

    return network_stage(
        "letters",
        LETTER_REQUESTS,
        LetterRequest,
        handle,
        settings,
        StageSettings(slots=32),
        exhausted,
    )


def _counted(letter: Letter, message: Message) -> Letter:
    """The letter with every call that was made for it."""
    return letter.model_copy(update={"usage": usage_of(message)})
