"""The first look, where Django cannot start: which package or setting keeps it from that.

Only Python's own library is loaded before it is known what else is there.
"""

import json
import re
import sys
import traceback
from dataclasses import asdict, dataclass

from .findings import Finding, State, python, wrong
from .terminal import in_lines

SETTING = re.compile(r"""env\.\w+\(\s*["'](\w+)["']""")
AGAIN = "Correct it in the environment or in .env, then run the doctor again."


@dataclass(frozen=True)
class FirstLook:
    """What the first look found, as one more examination."""

    finding: Finding
    family: str = "Settings"
    name: str = "Start"


def look_first(arguments: list[str]) -> None:
    """End with 1, and say why, if nothing can be examined; else let the command go on."""
    finding = why_not()
    if finding is None:
        return
    if "--json" in arguments:
        row = {"family": "settings", "name": "Start", **asdict(finding)}
        print(json.dumps([row], indent=2))  # noqa: T201
    else:
        print(*in_lines([FirstLook(finding)], _plain), sep="\n")  # noqa: T201
    sys.exit(1)


def why_not() -> Finding | None:
    """What keeps Django from starting; None if it starts."""
    try:
        import django
        from django.core.exceptions import ImproperlyConfigured

        django.setup()
    except ModuleNotFoundError as problem:
        says = f"The site cannot start: the package {problem.name} is not installed."
        command = python("-m pip install -r requirements-site.txt")
        return wrong(says, "Install what the site needs:", command)
    except ImproperlyConfigured as problem:
        return _refused(str(problem))
    except OSError as problem:
        place = problem.filename or "a file"
        says = f"The site cannot start: {place} cannot be used ({problem.strerror})."
        return wrong(says, "Let DATA_DIR name a folder that this user may write to.")
    except Exception as problem:  # noqa: BLE001  whatever a library says about a value
        return _unreadable(problem)
    return None


def _refused(words: str) -> Finding:
    """Settings that refuse to go on say why, and some of them from where a value can be had."""
    says, _from, command = words.partition(", for example from: ")
    return wrong(f"The site refuses to start: {says.rstrip('.')}.", AGAIN, command)


def _unreadable(problem: Exception) -> Finding:
    """Name the setting; its value may be a password and is not repeated."""
    lines = [frame.line or "" for frame in traceback.extract_tb(problem.__traceback__)]
    named = [found[1] for line in lines if (found := SETTING.search(line))]
    if named:
        return wrong(f"The site cannot start: {named[-1]} cannot be understood.", AGAIN)
    kind = type(problem).__name__
    says = f"The site cannot start: the code breaks while it is loaded ({kind})."
    return wrong(says, "What Python says about it is shown by:", python("manage.py check"))


def _plain(text: str, _state: State) -> str:
    return text
