"""Prompt templates: a system part, a user part, and `{{name}}` where a text goes in.

Only double braces around a lower-case name are a placeholder, so JSON examples stand in a
prompt as they are. What is the same in all requests of a run comes first and the item last:
servers keep the beginning of a prompt and need not read it again.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from .identity import digest, ordered_json

LONGEST_PART = 64_000
FORMS = ("single", "batch")
_BRACES = re.compile(r"\{\{([^{}\n]*)\}\}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NEARLY_A_NAME = re.compile(r"[\w.\- ]+")
_HEADING = re.compile(r"#[ \t]+(system|user)[ \t]*")
_FRONT_MATTER_KEYS = {"name", "form", "run", "item"}


class PromptNotValid(ValueError):
    """A template that cannot be used as it stands.

    Parameters
    ----------
    reason
        For the person who wrote it.
    part
        "system" or "user", or "" for the whole.
    line
        Counted from 1 within the part, or within the file while it is being taken apart;
        None where no line is to blame.
    name
        Of the placeholder, or "".
    """

    def __init__(
        self, reason: str, *, part: str = "", line: int | None = None, name: str = ""
    ) -> None:
        where = " ".join(filter(None, [part, f"line {line}" if line else ""]))
        super().__init__(f"{where}: {reason}" if where else reason)
        self.reason = reason
        self.part = part
        self.line = line
        self.name = name


@dataclass(frozen=True, slots=True)
class Layout:
    """Which placeholders a prompt may name.

    Parameters
    ----------
    run
        The same text in every request of a run; a prompt may do without them.
    item
        Another text in every request; all of them must be shown to the model, in the user
        part and after everything that does not change.
    """

    run: tuple[str, ...]
    item: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A template; an empty system part sends no system message."""

    system: str
    user: str
    layout: Layout


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A template that comes with an app; ``form`` is "single" or "batch"."""

    name: str
    form: str
    parts: PromptParts


def placeholders(text: str) -> tuple[str, ...]:
    """Names in a text, in order of first appearance.

    Raises
    ------
    PromptNotValid
        For what was meant as a placeholder and is none, as in ``{{ name }}``.

    Examples
    --------
    >>> placeholders('Compare {{object1}} with {{object2}}, answer {"label": {"value": 1}}')
    ('object1', 'object2')
    """
    return tuple(dict.fromkeys(name for name, _ in _found(text, "")))


@lru_cache(maxsize=64)
def check(parts: PromptParts) -> None:
    """Refuse a template that names what does not exist or hides what must be seen.

    Raises
    ------
    PromptNotValid
        With part, line and name where there are any.
    """
    for part, text in (("system", parts.system), ("user", parts.user)):
        if len(text) > LONGEST_PART:
            raise PromptNotValid(f"longer than {LONGEST_PART:,} characters", part=part)
    if not parts.user.strip():
        raise PromptNotValid("empty", part="user")
    for name, line in _found(parts.system, "system"):
        if name in parts.layout.item:
            reason = f"{{{{{name}}}}} changes with every item and belongs into the user part"
            raise PromptNotValid(reason, part="system", line=line, name=name)
        _check_offered(name, line, "system", parts.layout)
    _check_user(parts)


def render(parts: PromptParts, values: Mapping[str, str]) -> list[dict[str, str]]:
    """Messages of one request.

    Parameters
    ----------
    parts
        A template that passes `check`.
    values
        A text for exactly the names of the layout. Texts are put in as they are and never
        searched for placeholders.

    Raises
    ------
    PromptNotValid
        If a name has no value or a value no name.
    """
    check(parts)
    offered = {*parts.layout.run, *parts.layout.item}
    for name in sorted(offered - set(values)):
        raise PromptNotValid(f"there is no text for {{{{{name}}}}}", name=name)
    for name in sorted(set(values) - offered):
        raise PromptNotValid(f"there is a text for {name}, which is no placeholder", name=name)
    messages = [{"role": "user", "content": _filled(parts.user, values)}]
    if parts.system.strip():
        messages.insert(0, {"role": "system", "content": _filled(parts.system, values)})
    return messages


def prompt_hash(
    system: str, user: str, *, schema: Mapping[str, Any] | None = None, form: str = ""
) -> str:
    """Hexadecimal SHA-256 of what a prompt version freezes."""
    frozen_schema = None if schema is None else ordered_json(schema)
    return digest({"system": system, "user": user, "schema": frozen_schema, "form": form})


def load_prompt_file(path: Path) -> PromptFile:
    """Read a prompt that comes with an app.

    The file opens with ``---``, lines ``name:``, ``form:`` (one of `FORMS`), ``run:`` and
    ``item:`` (placeholders, separated by commas), and ``---``; then come the sections
    ``# system`` and ``# user``.

    Raises
    ------
    PromptNotValid
        With the line of the file where the file is at fault.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    fields, body = _front_matter(lines)
    if fields["form"] not in FORMS:
        raise PromptNotValid(f"the form must be one of {', '.join(FORMS)}")
    sections = _sections(lines, body)
    layout = Layout(_names(fields["run"]), _names(fields["item"]))
    parts = PromptParts(sections["system"], sections["user"], layout)
    check(parts)
    return PromptFile(fields["name"], fields["form"], parts)


def _found(text: str, part: str) -> Iterator[tuple[str, int]]:
    for match in _BRACES.finditer(text):
        inside = match.group(1)
        line = text.count("\n", 0, match.start()) + 1
        if _NAME.fullmatch(inside):
            yield inside, line
        elif _NEARLY_A_NAME.fullmatch(inside.strip()):
            reason = "a placeholder is a lower-case name between double braces, without spaces"
            raise PromptNotValid(reason, part=part, line=line, name=inside.strip())


def _check_offered(name: str, line: int, part: str, layout: Layout) -> None:
    offered = (*layout.run, *layout.item)
    if name not in offered:
        reason = f"{{{{{name}}}}} is not offered here; there are {', '.join(offered)}"
        raise PromptNotValid(reason, part=part, line=line, name=name)


def _check_user(parts: PromptParts) -> None:
    seen: set[str] = set()
    for name, line in _found(parts.user, "user"):
        _check_offered(name, line, "user", parts.layout)
        if name in parts.layout.run and seen:
            reason = f"{{{{{name}}}}} is the same for all items and belongs before them"
            raise PromptNotValid(reason, part="user", line=line, name=name)
        if name in parts.layout.item:
            seen.add(name)
    for name in parts.layout.item:
        if name not in seen:
            reason = f"{{{{{name}}}}} is missing: the model would judge what it cannot see"
            raise PromptNotValid(reason, part="user", name=name)


def _filled(text: str, values: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        return values[match.group(1)] if _NAME.fullmatch(match.group(1)) else match.group()

    # One pass: a text that itself contains {{sentence}} stays as it is.
    return _BRACES.sub(value_of, text)


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    if not lines or lines[0] != "---":
        raise PromptNotValid("a prompt file opens with ---", line=1)
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:], start=2):
        if line == "---":
            missing = sorted(_FRONT_MATTER_KEYS - set(fields))
            if missing:
                raise PromptNotValid(f"{missing[0]}: is missing", line=number, name=missing[0])
            return fields, number
        key, colon, value = line.partition(":")
        if not colon or key not in _FRONT_MATTER_KEYS or key in fields:
            raise PromptNotValid(f"{key[:40]!a} is not expected here", line=number)
        fields[key] = value.strip()
    raise PromptNotValid("the opening lines are never closed with ---", line=len(lines))


def _sections(lines: list[str], start: int) -> dict[str, str]:
    sections: dict[str, list[str]] = {}
    name = ""
    for number, line in enumerate(lines[start:], start=start + 1):
        heading = _HEADING.fullmatch(line)
        if heading and heading.group(1) in sections:
            raise PromptNotValid(f"a second section {heading.group(1)}", line=number)
        if heading:
            name = heading.group(1)
            sections[name] = []
        elif name:
            sections[name].append(line)
        elif line.strip():
            raise PromptNotValid("text before the first section", line=number)
    for missing in {"system", "user"} - set(sections):
        raise PromptNotValid(f"the section {missing} is missing", part=missing)
    return {name: "\n".join(section).strip() for name, section in sections.items()}


def _names(listed: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    for name in names:
        if not _NAME.fullmatch(name):
            raise PromptNotValid(f"{name[:40]!a} is not a lower-case name", name=name)
    return names
