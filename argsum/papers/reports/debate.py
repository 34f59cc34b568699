"""The Debate data of the argument summarization paper: what its preprocessing leaves."""

from collections import Counter
from collections.abc import Iterable, Iterator

from argsum.datasets.methods.argument_files import read_argument_pairs
from argsum.datasets.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, prepare, summed
from argsum.datasets.methods.published_sentences import is_one_published_sentence
from cqa_site.reproduction.figures import Found, Key, Measured

from . import names
from .release import DEBATE_ALL, DebateRow, Release

ROWS_COUNT = "a text that comes again with the same reason has one reason"
MARKS_COUNT = "also: repeated marks end one sentence, dots before a capital letter end one"


def debate_counts(release: Release) -> Iterator[tuple[Key, Found]]:
    """Arguments after each step, by the paper's rules and by ours; nothing without the files."""
    rows = release.debate_rows
    if not rows:
        return
    times = Counter((row.topic, row.stance, row.argument) for row in rows)
    once = [row for row in rows if times[row[:3]] == 1]
    single = {row for row in once if is_one_published_sentence(row.argument)}
    ours = _our_funnel(release)
    found = {
        "topics": Found(_count(len({row.topic for row in rows}))),
        "arguments": Found(_count(len(rows))),
        "unique arguments": Found(_count(len(times))),
        "… with exactly one reason": Found(
            _count(len(once)), _count(ours[ONE_KEY_POINT]), ROWS_COUNT
        ),
        "… of one sentence": Found(
            _count(len(single)), _count(ours[ONE_SENTENCE]), f"{ROWS_COUNT}; {MARKS_COUNT}"
        ),
        "… that are those of the released file": Found(
            _count(len(single & set(release.debate_kept)))
        ),
        "… in the released half": Found(_count(len(single & set(release.debate_half)))),
        "reasons of a topic and stance": Found(_count(_reasons(single))),
        "reasons of a topic and stance in the half": Found(_count(_reasons(release.debate_half))),
    }
    for cell, value in found.items():
        yield (names.DEBATE, cell), value


def _our_funnel(release: Release) -> dict[str, int]:
    cells = read_argument_pairs(release.folder / DEBATE_ALL, name=DEBATE_ALL.name).cells
    return summed(
        prepare([each.text for each in cell.arguments], cell.matched()).counts for cell in cells
    )


def _reasons(rows: Iterable[DebateRow]) -> int:
    return len({(row.topic, row.stance, row.reason) for row in rows})


def _count(number: int) -> Measured:
    return Measured((number,))
