"""The doctor's findings as text for a terminal, even if Django cannot start."""

import json
import re
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path

# Findings: a state, a sentence and a remedy.
#
# Nothing here needs Django, because the first check must work even if Django cannot start.

ROOT = Path(__file__).resolve().parents[3]


class CheckState(StrEnum):
    WRONG = "wrong"
    LOOK = "look"
    UNKNOWN = "unknown"
    WELL = "well"


@dataclass(frozen=True)
class Finding:
    """A finding in one sentence, with an optional remedy and command."""

    state: CheckState
    says: str
    remedy: str = ""
    command: str = ""
    # Further sentences if an examination found several problems.
    more: tuple[str, ...] = ()


# No action needed; works but needs attention; broken or unsafe; could not be examined.
well, look, wrong, unknown = (
    partial(Finding, CheckState[name]) for name in ("WELL", "LOOK", "WRONG", "UNKNOWN")
)


@dataclass(frozen=True)
class Result:
    """An examination with its finding, and a key for use by programs."""

    key: str
    family: str
    name: str
    finding: Finding


def as_row(finding: Result) -> dict[str, object]:
    """Return an examination as a dictionary for JSON, with stable field names."""
    row = asdict(finding)
    flat: dict[str, object] = row | row.pop("finding")
    return flat


def grouped(results: Iterable[Result], state: CheckState) -> list[tuple[str, Finding]]:
    """Return the distinct findings with a state, titled with the names of their examinations."""
    groups: dict[Finding, list[Result]] = {}
    for result in results:
        if result.finding.state == state:
            groups.setdefault(result.finding, []).append(result)
    return [
        (
            ", ".join(row.name for row in rows)
            if rows[1:]
            else f"{rows[0].family}: {rows[0].name}",
            finding,
        )
        for finding, rows in groups.items()
    ]


def python(arguments: str) -> str:
    """Return a command for this environment's Python, with a short path inside the project."""
    program = Path(sys.executable)
    short = program.relative_to(ROOT) if program.is_relative_to(ROOT) else program.name
    return f"{short} {arguments}"


def manage(arguments: str) -> str:
    return python(f"manage.py {arguments}")


WIDTH = 100
MARKS = {CheckState.WRONG: "WRONG", CheckState.LOOK: "LOOK", CheckState.UNKNOWN: "UNKNOWN"}
INDENT = 9
Paint = Callable[[str, CheckState], str]


def in_lines(results: Iterable[Result], paint: Paint, *, in_full: bool = False) -> list[str]:
    """Format findings: faults first, then warnings, then those not examined, then the rest."""
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
    # Not wrapped, so that it can be copied.
    return lines + ([f"{' ' * INDENT}  {finding.command}"] if finding.command else [])


def _well(results: list[Result], paint: Paint, in_full: bool) -> Iterable[str]:
    well = [result for result in results if result.finding.state == CheckState.WELL]
    families = dict.fromkeys(finding.family for finding in well)
    width = max(map(len, families), default=0) + 2
    mark = paint(f"{'WELL':<{INDENT}}", CheckState.WELL)
    for family in families:
        names = [finding for finding in well if finding.family == family]
        if in_full:
            yield f"{mark}{family}"
            for name in names:
                yield from _wrapped(f"{name.name}: {name.finding.says}")
        else:
            text = ", ".join(finding.name for finding in names)
            lines = textwrap.wrap(text, WIDTH - INDENT - width)
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


def _count(results: list[Result]) -> str:
    counts = {
        state: sum(result.finding.state == state for result in results) for state in CheckState
    }
    words = {
        CheckState.WRONG: "wrong",
        CheckState.LOOK: "with warnings",
        CheckState.UNKNOWN: "not checked",
        CheckState.WELL: "OK",
    }
    summary = ", ".join(f"{counts[state]} {words[state]}" for state in CheckState if counts[state])
    return f"{len(results)} checked: {summary}."


# First check, which finds the package or setting that keeps Django from starting.
#
# Only Python's standard library is loaded until the other packages are known to be installed.

SETTING = re.compile(r"""env\.\w+\(\s*["'](\w+)["']""")
EXTRA = "requirements-watching.txt"
AGAIN = "Correct it in the environment or in .env, then run the doctor again."


def look_first(arguments: list[str]) -> None:
    """Print the reason and exit with code 1 if Django cannot start."""
    finding = why_not()
    if finding is None:
        return
    looked = Result("settings.start", "Settings", "Start", finding)
    if "--json" in arguments:
        print(json.dumps([as_row(looked)], indent=2))  # noqa: T201
    else:
        print(*in_lines([looked], lambda text, _state: text), sep="\n")  # noqa: T201
    sys.exit(1)


def why_not() -> Finding | None:
    """Return a finding that explains why Django cannot start, or None if it starts."""
    try:
        import django
        from django.core.exceptions import ImproperlyConfigured

        django.setup()
    except ModuleNotFoundError as problem:
        return _not_installed(problem.name or "")
    except ImproperlyConfigured as problem:
        # The settings may add a command that generates a value.
        says, _from, command = str(problem).partition(", for example from: ")
        return wrong(f"The site refuses to start: {says.rstrip('.')}.", AGAIN, command)
    except OSError as problem:
        place = problem.filename or "a file"
        says = f"The site cannot start: {place} cannot be used ({problem.strerror})."
        return wrong(says, "Set DATA_DIR to a folder that this user can write to.")
    except Exception as problem:  # noqa: BLE001  libraries may raise any error for a value
        return _unreadable(problem)
    return None


def _not_installed(module: str) -> Finding:
    says = f"The site cannot start: the package {module} is not installed."
    install = python("-m pip install -r")
    # The common prefix of an extra package's modules; the site itself needs any other module.
    name = module.partition(".")[0].replace("_", "-")
    if re.search(rf"^{re.escape(name)}\b", (ROOT / EXTRA).read_text(), re.MULTILINE):
        remedy = "Install the packages for error reports and traces, or remove their settings:"
        return wrong(says, remedy, f"{install} {EXTRA}")
    return wrong(
        says, "Install the packages that the site needs:", f"{install} requirements-site.txt"
    )


def _unreadable(problem: Exception) -> Finding:
    """Return a finding that names the unreadable setting without its possibly secret value."""
    lines = [frame.line or "" for frame in traceback.extract_tb(problem.__traceback__)]
    named = [match[1] for line in lines if (match := SETTING.search(line))]
    if named:
        return wrong(f"The site cannot start: {named[-1]} cannot be read.", AGAIN)
    kind = type(problem).__name__
    says = f"The site cannot start: the code fails to load ({kind})."
    return wrong(says, "To see Python's error message, run:", python("manage.py check"))
