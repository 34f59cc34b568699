"""Names that people can search for: a class name occurs once, and names say what they hold."""

import ast
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


@cache
def trees():
    return {path: ast.parse((ROOT / path).read_text()) for path in product_files()}


def classes(tree):
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def test_a_public_class_name_occurs_once():
    places = defaultdict(list)
    for path, tree in trees().items():
        for node in classes(tree):
            places[node.name].append(str(path))
    repeated = {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and not name.startswith("_") and name not in REPEATED
    }
    assert repeated == {}


def test_no_class_is_called_by_a_participle():
    names = {node.name for tree in trees().values() for node in classes(tree)}
    assert {name for name in names if PARTICIPLES.fullmatch(name.strip("_"))} == set()


def test_local_names_say_what_they_hold():
    """Fields of classes are declared otherwise, so they are not looked at."""
    vague = [
        f"{path}:{node.lineno} {name}"
        for path, tree in trees().items()
        for function in outermost(tree)
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
