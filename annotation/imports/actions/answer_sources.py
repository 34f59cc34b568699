"""Files with answers as streams of entries: silver, gold, and the files of one system."""

from collections import Counter
from collections.abc import Iterator

from django.utils.translation import ngettext

from annotation.imports.methods.gold import GoldComparison, read_gold
from annotation.imports.methods.raw_answers import RawAnswer, read_raw_answers
from annotation.imports.methods.silver import SilverComparison, read_silver
from cqa_site.files.actions.rows import Line, Note, Source, rejected
from cqa_site.tabular import Problem

from .origin import Origin, gold_origin, origin_of, silver_origin
from .rows import AnswerEntry, ArgumentEntry


def read_silver_answers(source: Source) -> Iterator[Line]:
    """Comparisons with numbered arguments, and the machine answers that cite them."""
    origin = silver_origin(source.name, source.options)
    yield Note(str(origin))
    for comparison in read_silver(source.path, name=source.name):
        if isinstance(comparison, Problem):
            yield rejected(comparison, of="answers")
            continue
        yield from _silver_arguments(comparison)
        yield from _silver_answers(source, origin, comparison)


def _silver_arguments(comparison: SilverComparison) -> Iterator[ArgumentEntry]:
    for argument in comparison.arguments:
        yield ArgumentEntry(
            row=comparison.position,
            object1=comparison.object1,
            object2=comparison.object2,
            text=argument.text,
        )


def _silver_answers(
    source: Source, origin: Origin, comparison: SilverComparison
) -> Iterator[AnswerEntry]:
    listed = tuple((each.number, each.text) for each in comparison.arguments)
    for choice, text in enumerate(comparison.answers, start=1):
        yield _answer(
            source,
            origin,
            comparison,
            text=text,
            choice=choice,
            arguments=listed,
            column=f"gpt_answers · {choice}",
        )


def read_gold_answers(source: Source) -> Iterator[Line]:
    """Edited answers; the arguments they cite are those of the same pair in the study."""
    origin = gold_origin(source.name, source.options)
    yield Note(str(origin))
    for comparison in read_gold(source.path, name=source.name):
        if isinstance(comparison, Problem):
            yield rejected(comparison, of="answers")
            continue
        for choice, text in enumerate(comparison.texts, start=1):
            yield _answer(
                source,
                origin,
                comparison,
                text=text,
                choice=choice,
                wording=comparison.question or "",
                joins_arguments=True,
                column=f"comparison · {choice}",
            )


def read_system_answers(source: Source) -> Iterator[Line]:
    """The answers of one system; copies inside the file are kept, and said."""
    origin = origin_of(source.name, source.options)
    yield Note(str(origin))
    copies: Counter[tuple[str, str, str | None, str]] = Counter()
    for record in read_raw_answers(source.path, name=source.name):
        if isinstance(record, Problem):
            yield rejected(record, of="answers")
            continue
        copies[record.object1, record.object2, record.aspect, record.text] += 1
        yield _answer(source, origin, record, text=record.text, choice=record.choice)
    repeated = copies.total() - len(copies)
    if repeated:
        yield Note(_repeated(repeated))


def _repeated(number: int) -> str:
    text = ngettext(
        "%s text repeats an earlier one of the file on the same question; every copy is kept.",
        "%s texts repeat earlier ones of the file on the same question; every copy is kept.",
        number,
    )
    return text % number


def _answer(
    source: Source,
    origin: Origin,
    record: SilverComparison | GoldComparison | RawAnswer,
    **more,
) -> AnswerEntry:
    return AnswerEntry(
        row=record.position,
        object1=record.object1,
        object2=record.object2,
        aspect=record.aspect or "",
        source=source.name,
        position=record.position,
        system=origin.system,
        system_kind=origin.system_kind,
        scenario=origin.scenario,
        **more,
    )
