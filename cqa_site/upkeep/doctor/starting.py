"""The first look, where Django cannot start: which package or setting keeps it from that.

Only Python's own library is loaded before it is known what else is there.
"""

import json
import re
import sys
import traceback
from dataclasses import dataclass

from .findings import ROOT, Finding, State, as_row, python, wrong
from .terminal import in_lines

SETTING = re.compile(r"""env\.\w+\(\s*["'](\w+)["']""")
EXTRA = "requirements-watching.txt"
AGAIN = "Correct it in the environment or in .env, then run the doctor again."


@dataclass(frozen=True)
class FirstLook:
    """What the first look found, as one more examination."""

    finding: Finding
    key: str = "settings.start"
    family: str = "Settings"
    name: str = "Start"


def look_first(arguments: list[str]) -> None:
    """End with 1, and say why, if nothing can be examined; else let the command go on."""
    finding = why_not()
    if finding is None:
        return
    looked = FirstLook(finding)
    if "--json" in arguments:
        print(json.dumps([as_row(looked)], indent=2))  # noqa: T201
    else:
        print(*in_lines([looked], _plain), sep="\n")  # noqa: T201
    sys.exit(1)


def why_not() -> Finding | None:
    """What keeps Django from starting; None if it starts."""
    try:
        import django
        from django.core.exceptions import ImproperlyConfigured

        django.setup()
    except ModuleNotFoundError as problem:
        return _not_installed(problem.name or "")
    except ImproperlyConfigured as problem:
        return _refused(str(problem))
    except OSError as problem:
        place = problem.filename or "a file"
        says = f"The site cannot start: {place} cannot be used ({problem.strerror})."
        return wrong(says, "Let DATA_DIR name a folder that this user may write to.")
    except Exception as problem:  # noqa: BLE001  whatever a library says about a value
        return _unreadable(problem)
    return None


def _not_installed(module: str) -> Finding:
    says = f"The site cannot start: the package {module} is not installed."
    install = python("-m pip install -r")
    # How all modules of an extra package begin; what is none of them the site itself needs.
    name = module.partition(".")[0].replace("_", "-")
    if re.search(rf"^{re.escape(name)}\b", (ROOT / EXTRA).read_text(), re.MULTILINE):
        remedy = "Install what sends errors and traces away, or take out the settings that ask:"
        return wrong(says, remedy, f"{install} {EXTRA}")
    return wrong(says, "Install what the site needs:", f"{install} requirements-site.txt")


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
