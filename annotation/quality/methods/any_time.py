"""Test of a share against a threshold that stays valid when data are checked repeatedly."""

from __future__ import annotations

import math

from cqa_site.stats.verdicts import LEVEL


def is_below(right: int, n: int, mark: float) -> bool:
    """Whether ``right`` of ``n`` answers show a share below the mark, however often checked.

    Of raters exactly at the mark at most 5 % are ever below it; an interval looked at after each
    of 50 answers would say so of 9 %.

    Notes
    -----
    The likelihood of a share drawn evenly from below the mark is 20 times that of the mark, which
    happens in at most one of 20 sequences. Robbins (1970), Statistical methods related to the law
    of the iterated logarithm, section 3.

    >>> is_below(0, 6, 0.5), is_below(0, 7, 0.5)
    (False, True)
    """
    from scipy import special

    if not 0 < mark < 1:
        return bool(n) and right / n < mark
    wrong = n - right
    share = float(special.betainc(right + 1, wrong + 1, mark)) / mark
    if not share:
        return False
    mixture = math.log(share) + float(special.betaln(right + 1, wrong + 1))
    return mixture - right * math.log(mark) - wrong * math.log(1 - mark) >= -math.log(LEVEL)
