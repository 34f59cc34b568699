"""What a judge reads of a rubric: its criteria, the shape of the reply, and points as examples.

People and judges are given the same words: these are the rubric's own, in its own order.
"""

import json
from collections.abc import Mapping, Sequence

from benchmark.rubrics.methods.rubric import Criterion, Rubric


def criteria_text(rubric: Rubric, group: str | None = None) -> str:
    """The criteria of a rubric, or of one group, with what earns how many points.

    Raises KeyError for an unknown group.
    """
    names = {each.key: each.name for each in rubric.groups}
    lines: list[str] = []
    heading = ""
    for criterion in rubric.of_group(group):
        if criterion.group != heading:
            heading = criterion.group
            lines += ([""] if lines else []) + [f"## {names[heading]}"]
        lines.append(f"{criterion.key} ({criterion.name}): {criterion.asks}")
        lines += [_level(each.points, each.text, each.example) for each in criterion.levels]
    return "\n".join(lines)


def format_text(criteria: Sequence[Criterion], *, reasons: bool) -> str:
    """The reply as a judge should write it, with the range of every criterion."""
    entries = []
    for each in criteria:
        allowed = " or ".join(str(points) for points in range(each.maximum + 1))
        if each.maximum > 1:
            allowed = f"0 to {each.maximum}"
        value = f'{{"reason": "<one short sentence>", "points": <{allowed}>}}'
        entries.append(f'"{each.key}": {value if reasons else f"<{allowed}>"}')
    return "{" + ",\n ".join(entries) + "}"


def points_text(
    points: Mapping[str, float],
    notes: Mapping[str, str],
    criteria: Sequence[Criterion],
    *,
    reasons: bool,
) -> str:
    """Points of an example in the shape of a reply.

    Where reasons are wanted and the example has none for some criterion, the points stand in a
    plain list instead: an example with empty reasons would teach a judge to give none.
    """
    given = {each.key: int(points[each.key]) for each in criteria}
    if not reasons:
        return json.dumps(given)
    if all(notes.get(each.key, "").strip() for each in criteria):
        full = {key: {"reason": notes[key], "points": value} for key, value in given.items()}
        return json.dumps(full, ensure_ascii=False)
    return "Points: " + ", ".join(f"{key} {value}" for key, value in given.items())


def _level(points: int, text: str, example: str) -> str:
    more = f" For example: {example}" if example else ""
    return f"  {points}: {text}{more}"
