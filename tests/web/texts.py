"""The texts that people read: of templates, of Python code, of the documentation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

APPS = ("cqa_site", "annotation", "benchmark", "argsum")
GETTEXT = {"_", "lazy", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy"}
COMMENT = re.compile(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", re.S)
# Names of other things inside tags; what is translated there stands in quotes.
TAG = re.compile(r"\{%\s*(\w+)(.*?)%\}", re.S)
QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
MARKED = re.compile(r"_\((\"[^\"]*\"|'[^']*')\)")
# Files without a match hold no text for people; most are none.
SAYS = re.compile(r"\b(_|lazy|n?gettext(_lazy)?)\(|\b(help|help_text|description)=")
HTML = re.compile(r"<[^>]*>", re.S)


def of_templates() -> Iterator[tuple[str, str]]:
    """Every template's name with its texts: what is translated, and what stands there bare."""
    folder = Path(settings.BASE_DIR) / "templates"
    for file in sorted(folder.rglob("*.html")):
        yield str(file.relative_to(folder)), text_of(file.read_text(encoding="utf-8"))


def text_of(template: str) -> str:
    """What a template says, its attributes' translations included."""
    source = COMMENT.sub(" ", template)
    said = [_quoted(each[2]) for each in TAG.finditer(source) if each[1] in ("translate", "term")]
    said += [each[1][1:-1] for each in MARKED.finditer(source)]
    bare = re.sub(r"\{\{.*?\}\}", " ", TAG.sub(" ", source))
    return " ".join([*said, HTML.sub(" ", bare)])


def _quoted(arguments: str) -> str:
    found = QUOTED.search(arguments)
    return "".join(found.groups(default="")) if found else ""


def of_python(words: re.Pattern) -> Iterator[tuple[str, str]]:
    """Every text marked for translation, and every help of a command, with its place.

    Of files in which one of the words occurs: reading a file takes longer than looking for them.
    """
    for app in APPS:
        for file in sorted((Path(settings.BASE_DIR) / app).rglob("*.py")):
            if "migrations" not in file.parts:
                yield from _of_module(file, words)


def _of_module(file: Path, words: re.Pattern) -> Iterator[tuple[str, str]]:
    source = file.read_text(encoding="utf-8")
    is_read = SAYS.search(source) and words.search(source)
    for node in ast.walk(ast.parse(source)) if is_read else ():
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in GETTEXT:
            asked: list[ast.expr] = node.args
        elif isinstance(node, ast.keyword) and node.arg in ("help", "help_text", "description"):
            asked = [node.value]
        else:
            continue
        for each in asked:
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield f"{file.relative_to(settings.BASE_DIR)}:{each.lineno}", each.value


def of_documents() -> Iterator[tuple[str, str]]:
    """README and documentation without what stands in code marks."""
    root = Path(settings.BASE_DIR)
    for file in (root / "README.md", *sorted((root / "docs").rglob("*.md"))):
        text = re.sub(r"```.*?```|`[^`]*`", " ", file.read_text(encoding="utf-8"), flags=re.S)
        yield str(file.relative_to(root)), text
