"""Meet sentences whose characters were damaged on their way through a workbook."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from django.utils.translation import gettext as _

from annotation.corpus.models.questions import Argument
from annotation.imports.methods.expert_workbook import match_key
from cqa_site.files.actions.rows import Flag, Line
from cqa_site.people.models import Study

from ..actions.rows import ArgumentEntry

Pair = tuple[str, str]


def match_to_study(study: Study, lines: Iterable[Line]) -> Iterator[Line]:
    """Give workbook rows the study's own spelling of the same sentence.

    Only the reading differs (an encoding misread, runs of white space), so the
    stored sentence is taken and the row flagged.
    """
    stream = iter(lines)
    while chunk := list(islice(stream, 2_000)):
        yield from _matched(study, chunk)


def _matched(study: Study, chunk: list[Line]) -> Iterator[Line]:
    entries = [line for line in chunk if isinstance(line, ArgumentEntry)]
    spellings = _spellings(study, {(entry.object1, entry.object2) for entry in entries})
    for line in chunk:
        stored = _stored_text(line, spellings) if isinstance(line, ArgumentEntry) else None
        if isinstance(line, ArgumentEntry) and stored is not None:
            reason = _("Matched a sentence of the study that differs in damaged characters only.")
            yield Flag(line.row, line.place, reason)
            yield replace(line, text=stored)
        else:
            yield line


def _spellings(study: Study, pairs: set[Pair]) -> dict[tuple[str, str, str], set[str]]:
    rows = Argument.objects.filter(
        study=study,
        comparison__object1__in={one for one, _two in pairs},
        comparison__object2__in={two for _one, two in pairs},
    )
    found: dict[tuple[str, str, str], set[str]] = {}
    for one, two, text in rows.values_list("comparison__object1", "comparison__object2", "text"):
        found.setdefault((one, two, match_key(text)), set()).add(text)
    return found


def _stored_text(
    entry: ArgumentEntry, spellings: dict[tuple[str, str, str], set[str]]
) -> str | None:
    """The one other spelling in the study; None for an exact or a doubtful match."""
    texts = spellings.get((entry.object1, entry.object2, match_key(entry.text)), set())
    return next(iter(texts)) if len(texts) == 1 and entry.text not in texts else None
