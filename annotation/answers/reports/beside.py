"""The numbered arguments of one answer, as they stand beside its text."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from annotation.answers.models.answers import Answer
from annotation.corpus.methods.highlight import Segment, split_sentence
from annotation.corpus.models.questions import ListedArgument


@dataclass(frozen=True)
class ArgumentBeside:
    """One numbered argument; without label and source where the reader is not to have them."""

    number: int
    text: str
    segments: list[Segment]
    is_cited: bool
    label: int | None = None
    source: str = ""

    @property
    def link(self) -> str:
        """The source as an address, if it is one."""
        return self.source if self.source.startswith(("https://", "http://")) else ""


def listed_arguments(answer: Answer) -> list[ListedArgument]:
    """The arguments the answer was written from, by number."""
    if answer.argument_list_id is None:
        return []
    entries = ListedArgument.objects.filter(argument_list=answer.argument_list_id)
    return list(entries.select_related("argument").order_by("number"))


def arguments_beside(
    answer: Answer,
    entries: Sequence[ListedArgument],
    cited: Collection[int],
    labels: Mapping[int, int | None] | None = None,
) -> list[ArgumentBeside]:
    """Arguments with whether the text cites them; with labels come sources, too."""
    comparison = answer.question.comparison
    return [
        ArgumentBeside(
            number=entry.number,
            text=entry.argument.text,
            segments=split_sentence(entry.argument.text, comparison.object1, comparison.object2),
            is_cited=entry.number in cited,
            label=labels[entry.argument_id] if labels is not None else None,
            source=entry.argument.source_url if labels is not None else "",
        )
        for entry in entries
    ]
