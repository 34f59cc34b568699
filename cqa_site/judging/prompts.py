"""Prompt templates, and the quoting of judged texts in them."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .chat import digest, ordered_json

# Prompt templates: a system part, a user part, and `{{name}}` as a placeholder for a text
#
# Only a lower-case name in double braces is a placeholder, so a prompt may contain JSON examples.
# Text that is equal in all requests of a run comes first and the item last, because servers cache
# the beginning of a prompt.

LONGEST_PART = 64_000
FORMS = ("single", "batch")
_BRACES = re.compile(r"\{\{([^{}\n]*)\}\}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NEARLY_A_NAME = re.compile(r"[\w.\- ]+")
_HEADING = re.compile(r"#[ \t]+(system|user)[ \t]*")
_FRONT_MATTER_KEYS = {"name", "form", "run", "item"}


class PromptNotValid(ValueError):
    """Raised for a template that cannot be used.

    Parameters
    ----------
    reason
        Reason, written for the template's author.
    part
        "system" or "user", or "" for the whole template.
    line
        Line number in the part (or in the file, while it is being parsed), counted from 1; None if
        no single line is wrong.
    name
        Name of the placeholder, or "".
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
class PromptLayout:
    """Placeholders that a prompt may use.

    Parameters
    ----------
    run
        Placeholders whose text is the same in every request of a run; a prompt may omit them.
    item
        Placeholders whose text differs between requests. The prompt must contain all of them, in
        the user part, after the text that does not change.
    """

    run: tuple[str, ...]
    item: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A template; if the system part is empty, no system message is sent."""

    system: str
    user: str
    layout: PromptLayout


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A template that an app provides; ``form`` is "single" or "batch"."""

    name: str
    form: str
    parts: PromptParts


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names in a text, in order of first appearance.

    Raises
    ------
    PromptNotValid
        For an invalid placeholder, as in ``{{ name }}``.

    Examples
    --------
    >>> placeholders('Compare {{object1}} with {{object2}}, answer {"label": {"value": 1}}')
    ('object1', 'object2')
    """
    return tuple(dict.fromkeys(name for name, _ in _found(text, "")))


@lru_cache(maxsize=64)
def check(parts: PromptParts) -> None:
    """Refuse a template with unknown or missing placeholders.

    Raises
    ------
    PromptNotValid
        With the part, line and name, if known.
    """
    for part, text in (("system", parts.system), ("user", parts.user)):
        if len(text) > LONGEST_PART:
            raise PromptNotValid(f"longer than {LONGEST_PART:,} characters", part=part)
    if not parts.user.strip():
        raise PromptNotValid("empty", part="user")
    for name, line in _found(parts.system, "system"):
        if name in parts.layout.item:
            reason = f"{{{{{name}}}}} changes with every item and belongs in the user part"
            raise PromptNotValid(reason, part="system", line=line, name=name)
        _check_offered(name, line, "system", parts.layout)
    _check_user(parts)


def render(parts: PromptParts, values: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the messages of one request.

    Parameters
    ----------
    parts
        A template that passes `check`.
    values
        One text for each name in the layout, and no other texts. Texts are inserted unchanged and
        never searched for placeholders.

    Raises
    ------
    PromptNotValid
        If a name has no value or a value has no name.
    """
    check(parts)
    offered = {*parts.layout.run, *parts.layout.item}
    for name in sorted(offered - set(values)):
        raise PromptNotValid(f"there is no text for {{{{{name}}}}}", name=name)
    for name in sorted(set(values) - offered):
        raise PromptNotValid(f"there is a text for {name}, which is not a placeholder", name=name)
    messages = [{"role": "user", "content": _filled(parts.user, values)}]
    if parts.system.strip():
        messages.insert(0, {"role": "system", "content": _filled(parts.system, values)})
    return messages


def prompt_hash(
    system: str, user: str, *, schema: Mapping[str, Any] | None = None, form: str = ""
) -> str:
    """Return the hexadecimal SHA-256 of the fixed content of a prompt version."""
    frozen_schema = None if schema is None else ordered_json(schema)
    return digest({"system": system, "user": user, "schema": frozen_schema, "form": form})


def load_prompt_file(path: Path) -> PromptFile:
    """Read a prompt file of an app.

    The file starts with ``---``, the lines ``name:``, ``form:`` (one of `FORMS`), ``run:`` and
    ``item:`` (placeholders, separated by commas), and ``---``. The sections ``# system`` and
    ``# user`` follow.

    Raises
    ------
    PromptNotValid
        With the line of the error in the file.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    fields, body = _front_matter(lines)
    if fields["form"] not in FORMS:
        raise PromptNotValid(f"the form must be one of {', '.join(FORMS)}")
    sections = _sections(lines, body)
    layout = PromptLayout(_names(fields["run"]), _names(fields["item"]))
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


def _check_offered(name: str, line: int, part: str, layout: PromptLayout) -> None:
    offered = (*layout.run, *layout.item)
    if name not in offered:
        reason = f"{{{{{name}}}}} is not available; the placeholders are {', '.join(offered)}"
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
            reason = f"{{{{{name}}}}} is missing, so the model would not see what it judges"
            raise PromptNotValid(reason, part="user", name=name)


def _filled(text: str, values: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        return values[match.group(1)] if _NAME.fullmatch(match.group(1)) else match.group()

    # Replace in one pass, so that a text that contains {{sentence}} stays unchanged.
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
    for missing in [part for part in ("system", "user") if part not in sections]:
        raise PromptNotValid(f"the section {missing} is missing", part=missing)
    return {name: "\n".join(section).strip() for name, section in sections.items()}


def _names(listed: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    for name in names:
        if not _NAME.fullmatch(name):
            raise PromptNotValid(f"{name[:40]!a} is not a lower-case name", name=name)
    return names


# Safe quoting of judged text, without invisible characters or premature ends of the quotation
#
# The judged text may have been written to manipulate the judge. The model receives it without
# invisible characters, as a JSON string on one line between two marker lines. The stored text
# stays unchanged. This makes attacks visible and harder, but not impossible.

LONGEST_BYTES = 65_536
TOKEN_DIGITS = 16

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
# Removed in every language. Joiners shape some scripts and emoji, but they can also carry hidden
# messages, and they are removed only from the judge's copy of the text.
_INVISIBLE = re.compile(
    "(?P<control>[\x00-\x08\x0e-\x1f\x7f-\x9f]+)|(?P<surrogate>[\ud800-\udfff]+)|(?P<bidi>[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+)|(?P<zero_width>[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b-\u200d\u2060-\u2064\u3164\ufeff\uffa0]+)|(?P<variation>[\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+)|(?P<tag>[\U000e0000-\U000e007f]+)|(?P<format>[\u206a-\u206f\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]+)"
)
KINDS = tuple(_INVISIBLE.groupindex)

_TO_THE_JUDGE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
    r"\b(?:instructions?|rules?|rubric|criteria|guidelines|prompt)\b"
    r"|\byou are (?:now )?(?:an? |the )?(?:\w+ )?(?:judge|grader|evaluator|annotator|assistant)\b"
    r"|\b(?:dear|attention|hey|note to(?: the)?) (?:judge|grader|evaluator|annotator|model)\b"
    r"|\b(?:give|assign|award|output|return|respond with|answer with|rate)\b.{0,40}"
    r"\b(?:labels?|scores?|ratings?|grades?|relevance)\b"
    r"|\b(?:system prompt|language model)\b"
    r"|[\"'](?:label|labels|score|relevance|reason)[\"']\s*:"
    r"|<\|[^|\n]{1,40}\|>|\[/?INST\]|</?(?:think|s|system|start_of_turn|end_of_turn)>"
    r"|^[ \t]*(?:#+[ \t]*)?(?:system|assistant)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# Characters that a chat template may treat as message boundaries, or some programs as line ends.
_ESCAPED = re.compile(r"<|\[(?=/?[A-Z])|[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Flags:
    """Findings about a text.

    Parameters
    ----------
    removed
        Counts of removed characters, by kind (`KINDS`); kinds with a count of 0 are absent.
    characters_cut
        Number of characters cut from the end because the text was longer than `LONGEST_BYTES`.
    addresses_judge
        Whether the text seems to address a judge, according to a few English patterns. This is a
        reason to look at the text, never to change a label.
    """

    removed: Mapping[str, int]
    characters_cut: int
    addresses_judge: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each finding."""
        others = {"addresses_judge": self.addresses_judge, "cut": self.characters_cut}
        return (*self.removed, *(name for name, is_found in others.items() if is_found))


@dataclass(frozen=True, slots=True)
class Neutral:
    """A text that is safe to show to a judge."""

    text: str
    flags: Flags


def neutralise(text: str) -> Neutral:
    """Remove invisible characters, normalise line ends, and limit the length.

    Neutralising a text again does not change it.

    Examples
    --------
    >>> neutral = neutralise("oak\\u200b is\\r\\nharder\\u202e")
    >>> neutral.text, dict(neutral.flags.removed)
    ('oak is\\nharder', {'zero_width': 1, 'bidi': 1})
    """
    removed: dict[str, int] = {}

    def count(match: re.Match[str]) -> str:
        kind = str(match.lastgroup)
        removed[kind] = removed.get(kind, 0) + len(match.group())
        return ""

    plain = text
    # Most sentences contain nothing to remove.
    if not (text.isascii() and text.isprintable()):
        plain = _INVISIBLE.sub(count, _LINE_ENDS.sub("\n", text))
    capped = plain.encode("utf-8")[:LONGEST_BYTES].decode("utf-8", "ignore")
    flags = Flags(
        removed=MappingProxyType(removed),
        characters_cut=len(plain) - len(capped),
        addresses_judge=_TO_THE_JUDGE.search(capped) is not None,
    )
    return Neutral(capped, flags)


def quote(text: str) -> str:
    """Return a text as one line of JSON without characters that a chat template treats as markup.

    Escapes do not change the value; letters of all scripts stay readable.
    """
    return _json_line(text)


def fence_token(identity: str, *texts: str) -> str:
    """Return the code of the marker lines: pseudo-random, but the same for identical requests.

    Parameters
    ----------
    identity
        Further content of the request, such as the prompt's hash. It must be the same in
        requests that should share a stored reply.
    texts
        Texts inside the fence; none of them contains the code.

    Returns
    -------
    str
        `TOKEN_DIGITS` hexadecimal digits.
    """
    for attempt in range(1000):
        seed = json.dumps([attempt, identity, *texts]).encode("ascii")
        token = hashlib.sha256(seed).hexdigest()[:TOKEN_DIGITS]
        if not any(token in text.lower() for text in texts):
            return token
    raise ValueError("no code was found that is absent from the text")


def fence(text: str, token: str) -> str:
    """Return a text as a JSON string between two marker lines.

    Raises
    ------
    ValueError
        If the code occurs in the text.
    """
    return _between(token, [text], _json_line(text))


def fence_items(texts: Mapping[int, str] | Sequence[tuple[int, str]], token: str) -> str:
    """Return texts between marker lines, each as JSON with ``id`` and ``sentence``."""
    pairs = list(texts.items()) if isinstance(texts, Mapping) else list(texts)
    lines = [_json_line({"id": number, "sentence": text}) for number, text in pairs]
    return _between(token, [text for _, text in pairs], "\n".join(lines))


def fence_records(records: Sequence[Mapping[str, Any]], token: str) -> str:
    """Return several records between marker lines, one JSON object per line.

    Parameters
    ----------
    records
        Mappings of trusted names to texts, numbers or lists of texts; the texts are already
        neutralised.
    token
        See `fence_token`.

    Raises
    ------
    ValueError
        If the code occurs in a record.
    """
    lines = [_json_line(record) for record in records]
    return _between(token, lines, "\n".join(lines))


def _between(token: str, texts: Sequence[str], lines: str) -> str:
    if not token or any(token in text.lower() for text in texts):
        raise ValueError("the code of the marker lines occurs in the text")
    return f"=== begin {token} ===\n{lines}\n=== end {token} ==="


def _json_line(value: Any) -> str:
    return _ESCAPED.sub(
        lambda match: f"\\u{ord(match.group()):04x}", json.dumps(value, ensure_ascii=False)
    )
