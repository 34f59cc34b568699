"""A rubric as lines of text, so that two versions can be compared line by line."""

from .rubric import Rubric


def rubric_text(rubric: Rubric) -> str:
    """Everything raters and judges see, one statement a line, in the order of the rubric.

    Examples
    --------
    >>> from .compqa_rubric import COMPQA
    >>> rubric_text(COMPQA).splitlines()[:2]
    ['CompQA: 15 criteria, 19 points', 'Structure: 7 points']
    """
    halves = ", half points allowed" if rubric.allows_halves else ""
    lines = [f"{rubric.name}: {len(rubric.criteria)} criteria, {rubric.maximum} points{halves}"]
    names = {each.key: each.name for each in rubric.groups}
    lines += [f"{each.name}: {each.maximum} points" for each in rubric.groups]
    for each in rubric.criteria:
        counted = f", counted: {each.counted_by}" if each.counted_by else ""
        lines.append(f"{each.key} {each.name} ({names[each.group]}, 0 to {each.maximum}{counted})")
        lines.append(_one_line(each.asks))
        for level in each.levels:
            lines.append(f"{level.points}: {_one_line(level.text)}")
            lines += [f"{level.points}, for example: {_one_line(level.example)}"] * bool(
                level.example
            )
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())
