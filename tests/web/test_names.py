"""Names that people can search for: a class name occurs once, and names say what they hold."""

import ast
import builtins
import re
from collections import defaultdict
from functools import cache

from benchmarks.house import ROOT, product_files

# Past participles and other words that do not say what a class or a variable is.
PARTICIPLES = re.compile(
    "(Shown|Told|Kept|Made|Found|Sent|Taken|Given|Drawn|Written|Known|Seen|Put|Held|Left|Met|"
    "Chosen|Begun|Gone|Done|Meant|Said|Asked|Asking|Waiting|Belonging|HowFar)"
)
# An exception says what happened: NameTaken.
LOCAL_NAMES = {"found", "said", "each", "one"}
# The names of tables, which backups of 0.1.0 know; and Django wants every command so.
REPEATED = {"Command", "ExportFile", "Item", "Slot", "Snapshot"}


CLASS = re.compile(r"^class (\w+)", re.M)
# Where one of them may be bound; most files are not parsed for that.
BOUND = re.compile(r"\b(found|said|each|one)(?=\s*([-+*/|&^%@:]?=|[,:)\]]|in\b|$))", re.M)


@cache
def sources():
    return {path: (ROOT / path).read_text() for path in product_files()}


def test_a_public_class_name_occurs_once():
    places = defaultdict(list)
    for path, source in sources().items():
        for name in CLASS.findall(source):
            places[name].append(str(path))
    assert len(places) > 1_000
    repeated = {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and not name.startswith("_") and name not in REPEATED
    }
    assert repeated == {}


def test_no_class_is_called_by_a_participle():
    names = {name for source in sources().values() for name in CLASS.findall(source)}
    assert {name for name in names if PARTICIPLES.fullmatch(name.strip("_"))} == set()


def test_local_names_say_what_they_hold():
    """Fields of classes are declared otherwise, so they are not looked at."""
    vague = [
        f"{path}:{node.lineno} {name}"
        for path, source in sources().items()
        if BOUND.search(source)
        for function in outermost(ast.parse(source))
        for node in ast.walk(function)
        if (name := bound_name(node)) in LOCAL_NAMES
    ]
    assert vague == []


def outermost(node):
    """Functions that stand in no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from outermost(child)


def bound_name(node):
    """Return the name that a node binds; None for any other node."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return node.arg if isinstance(node, ast.arg) else None


QUOTED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)`(?!`)")
WORD = re.compile(r"[A-Za-z_]\w*")


def test_names_in_backticks_exist():
    """A docstring or comment that names something renamed or moved sends readers nowhere."""
    words = {part for path in sources() for part in path.with_suffix("").parts}
    for source in sources().values():
        words.update(WORD.findall(re.sub(r"`[^`\n]*`", "", source)))
    stale = [
        f"{path}: {name}"
        for path, source in sources().items()
        for name in QUOTED.findall(source)
        if not words.issuperset(name.split("."))
    ]
    assert stale == []


RAISED = re.compile(r"^( +)Raises\n\1-+\n((?:\1(?: +.*|[A-Z]\w+(?:, \w+)*)\n)+)", re.M)
DOCSTRING = re.compile(r'""".*?"""', re.S)


def test_exceptions_that_docstrings_name_exist():
    words = set(dir(builtins))
    for source in sources().values():
        words.update(WORD.findall(DOCSTRING.sub("", source)))
    stale = [
        f"{path}: {name}"
        for path, source in sources().items()
        for indent, block in RAISED.findall(source)
        for line in block.splitlines()
        if not line.startswith(f"{indent} ")
        for name in line.strip().split(", ")
        if name not in words
    ]
    assert stale == []
