"""What was found, for a terminal: troubles in full, what is well in a line for each family."""

import textwrap
from collections.abc import Callable, Iterable

from .findings import Finding, State, Told, grouped

WIDTH = 100
MARKS = {State.WRONG: "WRONG", State.LOOK: "LOOK", State.UNKNOWN: "UNKNOWN"}
INDENT = 9
Paint = Callable[[str, State], str]


def in_lines(results: Iterable[Told], paint: Paint, *, in_full: bool = False) -> list[str]:
    """Wrong ones first, then those to look at, then what could not be examined, then the rest."""
    results = list(results)
    lines: list[str] = []
    for state in MARKS:
        for title, finding in grouped(results, state):
            lines += [*_trouble(title, finding, paint), ""]
    return lines + list(_well(results, paint, in_full)) + ["", _count(results)]


def _trouble(title: str, finding: Finding, paint: Paint) -> list[str]:
    mark = paint(f"{MARKS[finding.state]:<{INDENT}}", finding.state)
    first, *others = textwrap.wrap(title, WIDTH - INDENT)
    lines = [f"{mark}{first}", *_wrapped(" ".join(others)), *_wrapped(finding.says)]
    for sentence in finding.more:
        lines += _wrapped(f"- {sentence}")
    if finding.remedy:
        lines += _wrapped(finding.remedy)
    # Whole, so that it can be copied.
    return lines + ([f"{' ' * INDENT}  {finding.command}"] if finding.command else [])


def _well(results: list[Told], paint: Paint, in_full: bool) -> Iterable[str]:
    well = [each for each in results if each.finding.state == State.WELL]
    families = dict.fromkeys(each.family for each in well)
    width = max(map(len, families), default=0) + 2
    mark = paint(f"{'WELL':<{INDENT}}", State.WELL)
    for family in families:
        names = [each for each in well if each.family == family]
        if in_full:
            yield f"{mark}{family}"
            for each in names:
                yield from _wrapped(f"{each.name}: {each.finding.says}")
        else:
            told = ", ".join(each.name for each in names)
            lines = textwrap.wrap(told, WIDTH - INDENT - width)
            yield f"{mark}{family:<{width}}{lines[0]}"
            yield from (f"{' ' * (INDENT + width)}{line}" for line in lines[1:])


def _wrapped(text: str) -> list[str]:
    indent = " " * INDENT
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _count(results: list[Told]) -> str:
    """How many of each state."""
    counts = {state: sum(each.finding.state == state for each in results) for state in State}
    words = {
        State.WRONG: "wrong",
        State.LOOK: "to look at",
        State.UNKNOWN: "could not be examined",
        State.WELL: "well",
    }
    told = ", ".join(f"{counts[state]} {words[state]}" for state in State if counts[state])
    return f"{len(results)} examined: {told}."
