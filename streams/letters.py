"""Letters: what the customer is told. A model may word it; code decides whether the wording may go."""

from collections.abc import Callable
from datetime import datetime

from schemas.docket import Usage
from schemas.letter import Letter, LetterRequest
from schemas.money import show
from streams.letter_checks import problems
from streams.letter_templates import letter_words, render
from streams.llm.port import HOPELESS, LetterTask, Model
from streams.llm.spend_shares import for_letters
from streams.policies.loader import LoadedPack
from streams.prompts import letter_prompt

WORDED_BY_MODEL = frozenset({"outcome", "review"})
"""The other kinds always say the same and need no call."""

Clock = Callable[[], datetime]


async def write(request: LetterRequest, pack: LoadedPack, model: Model, now: Clock) -> Letter:
    """The letter of a request: the model's draft, once re-asked, if the checks pass it, else the template.

    Raises:
        Overloaded, ProviderDown, Misconfigured: from the model; the async stage decides what then.
    """
    template = render(request, pack)
    if request.template or request.kind not in WORDED_BY_MODEL:
        return _letter(request, template, now)
    words = letter_words(pack)
    categories = [category.name for category in pack.pack.categories]
    task = _task(request, pack, template)
    usage = Usage()
    rejected: list[str] = []
    simulated = request.simulated
    for _ in range(2):
        reply = await model.write_letter(task)
        usage = usage.plus(reply.usage)
        simulated = simulated or reply.simulated
        found = (
            problems(reply.draft, request, words, categories)
            if reply.draft is not None
            else (reply.problem or f"the reply was {reply.failure or 'empty'}",)
        )
        if reply.draft is not None and not found:
            letter = _letter(request, reply.draft.strip(), now, usage, tuple(rejected), simulated)
            return letter.model_copy(
                update={
                    "written_by": "model",
                    "model": f"{reply.provider}/{reply.model}",
                    "prompt_hash": task.prompt.hash,
                }
            )
        rejected.append("; ".join(found))
        if reply.failure in HOPELESS:
            break
        correction = f"Your last letter cannot be sent: {rejected[-1]}"
        task = LetterTask(**{**vars(task), "correction": correction, "previous_reply": reply.raw})
    return _letter(request, template, now, usage, tuple(rejected), simulated)


def from_template(request: LetterRequest, pack: LoadedPack, reason: str, now: Clock) -> Letter:
    """The template's letter where the model could not be had in time."""
    return _letter(request, render(request, pack), now, rejected=(f"no draft: {reason}",))


def _task(request: LetterRequest, pack: LoadedPack, template: str) -> LetterTask:
    paid = request.paid_minor
    return LetterTask(
        prompt=letter_prompt(pack),
        stand_in=pack.offline,
        kind=request.kind,
        order_id=request.order_id,
        paid=show(paid, request.currency) if paid else "",
        lines=request.lines,
        line_amounts=tuple(
            show(line.amount_minor, request.currency)
            if paid and line.state == "resolved" and line.amount_minor
            else ""
            for line in request.lines
        ),
        promises=request.promises,
        complaint_text=request.complaint_text,
        template=template,
        **vars(for_letters(request.dispute_id)),
    )


def _letter(
    request: LetterRequest,
    body: str,
    now: Clock,
    usage: Usage | None = None,
    rejected: tuple[str, ...] = (),
    simulated: bool | None = None,
) -> Letter:
    return Letter(
        at=now(),
        dispute_id=request.dispute_id,
        order_id=request.order_id,
        customer_id=request.customer_id,
        settles_under=request.settles_under,
        pack=request.pack,
        simulated=request.simulated if simulated is None else simulated,
        letter_id=request.letter_id,
        kind=request.kind,
        template=request.template,
        body=body,
        written_by="template",
        rejected_drafts=rejected,
        paid_minor=request.paid_minor,
        currency=request.currency,
        usage=usage or Usage(),
    )
