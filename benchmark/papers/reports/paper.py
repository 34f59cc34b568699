"""Every figure of the CompQA paper that its release supports, and the paper's tables.

Released values are by the paper's recipe, with values off the scale and answers that occur twice
among the human rows; ours leave out or average those, as an import does.
"""

from collections.abc import Mapping
from pathlib import Path

from cqa_site.reproduction.figures import Figure, Found, Key, Measured, compare
from cqa_site.reproduction.reproduced import Reproduction

from .counts import count_values
from .layouts import layouts
from .names import PEOPLE
from .published import PRINTED, absent_reasons
from .release import Release, our_sheets, paper_sheets, read_release
from .values import Values, people_values, sheet_values

OURS = "without {} sheets: incomplete, off the scale or repeated"


def compqa_reproduction(data: Path) -> Reproduction:
    """Read the release below a folder, compute every figure and lay the paper's tables out.

    Raises
    ------
    ReleaseMissing, UnreadableFile
        As `read_release` does.
    """
    release = read_release(data)
    raters = [*release.judged, *([PEOPLE] if release.people else [])]
    return Reproduction(tuple(compqa_figures(release)), layouts(raters))


def compqa_figures(release: Release) -> list[Figure]:
    """Every figure in the order of the paper's list."""
    paper = sheet_values(paper_sheets(release)) | people_values(release.own_sheets, is_sound=False)
    ours = sheet_values(our_sheets(release)) | people_values(release.own_sheets, is_sound=True)
    counts = {key: Found(released=each) for key, each in count_values(release).items()}
    return compare({**counts, **beside(paper, ours)}, PRINTED, reasons=absent_reasons(release))


def beside(paper: Values, ours: Values) -> Mapping[Key, Found]:
    """Values by both recipes; ours is another one where it has fewer rows."""
    return {key: _found(each, ours.get(key)) for key, each in paper.items()}


def _found(paper: Measured, ours: Measured | None) -> Found:
    if ours is None or paper.n == ours.n:
        return Found(paper, ours)
    return Found(paper, ours, OURS.format((paper.n or 0) - (ours.n or 0)))
