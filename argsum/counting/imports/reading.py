"""A file of one person's counts as lines of an import."""

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.counting.methods.released import CountFile, read_counts
from argsum.counting.methods.released_rows import LEFT_OUT, CountedSet
from cqa_site.files.actions.rows import Flag, Line, Note, Source, rejected

from .entries import BOOK, CountEntry, dataset_of, rater_of, references_of


def read_count_sheets(source: Source) -> Iterator[Line]:
    """One sheet a row; rows that were not done are counted and left out."""
    found = read_counts(source.path, name=source.name)
    for problem in found.problems:
        yield rejected(problem, of=BOOK)
    yield from _notes(found)
    for counted in found.sets:
        yield from _remarks(counted)
        yield CountEntry(
            row=counted.row,
            dataset=dataset_of(source.options),
            source=source.name,
            rater=rater_of(source.options, source.name),
            counted=counted,
            references=references_of(source.options),
        )


def _notes(found: CountFile) -> Iterator[Note]:
    if found.not_done:
        text = ngettext(
            "%s set was not judged (-2) and is left out.",
            "%s sets were not judged (-2) and are left out.",
            found.not_done,
        )
        yield Note(text % found.not_done)
    aside = sum(each.is_left_out for each in found.sets)
    if aside:
        text = ngettext(
            "%(n)s set is of a system called %(name)s, which the paper leaves out.",
            "%(n)s sets are of systems called %(name)s, which the paper leaves out.",
            aside,
        )
        yield Note(text % {"n": aside, "name": LEFT_OUT})


def _remarks(counted: CountedSet) -> Iterator[Flag]:
    """Counts that say something else than their share; the share is kept."""
    pairs = (
        ("n_covered", counted.covered, counted.coverage, len(counted.references)),
        ("n_unique", counted.unique, _unique_share(counted), len(counted.summaries)),
    )
    for column, count, share, most in pairs:
        if share is None:
            yield Flag(counted.row, column, _("Unsure; kept as such and in no figure."))
        elif count is not None and abs(count - share * most) > 1e-6:
            text = _("Says %(count)g, but the share gives %(meant)g, which is taken.")
            yield Flag(counted.row, column, text % {"count": count, "meant": share * most})


def _unique_share(counted: CountedSet) -> float | None:
    return None if counted.redundancy is None else 1 - counted.redundancy
