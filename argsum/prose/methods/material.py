"""Content of a request for a paragraph: key points of a theme, and selected statements."""

from collections.abc import Sequence

from argsum.analysis.methods.statements import unlike
from cqa_site.judging.prompts import neutralise

# Up to this number, key points without a theme have a paragraph each.
FEW = 3


def paragraphs_of(points: Sequence[tuple[int, str, int]], most: int) -> list[list[int]]:
    """Group key points into paragraphs by theme, most comments first.

    Parameters
    ----------
    points
        Key point, its theme (empty for none), and the comments of the theme, or else of the key
        point; in the order in which a paragraph names them.
    most
        How many paragraphs at most. If no key point has a theme, each is a paragraph.

    Examples
    --------
    >>> paragraphs_of([(1, "Price", 5), (2, "", 7), (3, "Price", 5), (4, "Staff", 6)], 3)
    [[2], [4], [1, 3]]
    """
    loose = [point for point, theme, _comments in points if not theme]
    is_together = FEW < len(loose) < len(points)
    groups: dict[object, list[int]] = {}
    sizes: dict[object, int] = {}
    for point, theme, comments in points:
        key: object = theme or ("" if is_together else point)
        groups.setdefault(key, []).append(point)
        sizes[key] = comments
    # What has no theme comes last, whatever its size.
    rest = groups.pop("", None)
    rows = [groups[key] for key in sorted(groups, key=lambda key: -sizes[key])]
    if rest:
        return [*rows[: most - 1], rest]
    return rows[:most]


def statements_for(candidates: Sequence[Sequence[tuple[int, str]]], most: int) -> list[int]:
    """Choose statements of different wordings, spread over key points.

    The best one of each key point comes first, then the second one of each, and so on. A
    statement that speaks to a language model is left out: nobody needs it as a source.
    ``candidates`` are the statements of each key point with their texts, best first.
    """
    depth = max(map(len, candidates), default=0)
    row = [own[at] for at in range(depth) for own in candidates if at < len(own)]
    # A statement may stand behind several key points.
    texts = dict(row)
    keys = [key for key, text in texts.items() if not neutralise(text).flags.addresses_judge]
    return [keys[at] for at in unlike([texts[key] for key in keys], most)]
