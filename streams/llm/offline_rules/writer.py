"""The stand-in's letter: the pack's template, which says everything a letter must and nothing else."""

from streams.llm.port import LetterTask


def compose(task: LetterTask) -> str:
    return task.template
