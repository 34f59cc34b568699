"""Size and structure of the product: files, lines, repeated class names and import cycles.

    python -m benchmarks.house

Reads the files that git tracks, imports nothing, and takes a few seconds. Migrations are left
out. Cycles count every import, including those inside functions and for type checking.
"""

import ast
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
PACKAGES = ("annotation", "argsum", "benchmark", "cqa_site")
LONG = 400


def product_files() -> list[Path]:
    """Non-empty Python files of the product, relative to the repository."""
    command = ["git", "ls-files", *(f"{package}/*.py" for package in PACKAGES)]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [Path(line) for line in listed.stdout.split()]
    return [path for path in paths if "migrations" not in path.parts and (ROOT / path).read_text()]


def module_of(path: Path) -> str:
    """Return the dotted module name of a file."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, tree: ast.Module) -> set[str]:
    """Return the dotted names that a file imports, each with the names taken from it."""
    package = list(path.parts[:-1])
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return names


def main() -> None:
    """Print the table."""
    files = product_files()
    trees = {path: ast.parse((ROOT / path).read_text()) for path in files}
    lines = {path: len((ROOT / path).read_text().splitlines()) for path in files}
    modules = {module_of(path): path for path in files}
    graph = nx.DiGraph()
    places = defaultdict(set)
    for path, tree in trees.items():
        needed = imports_of(path, tree) & modules.keys()
        graph.add_edges_from((module_of(path), name) for name in needed - {module_of(path)})
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(path)
    repeated = Counter({name: len(found) for name, found in places.items() if len(found) > 1})
    circles = [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
    rows = {
        "files": len(files),
        "folders": len({path.parent for path in files}),
        "lines": sum(lines.values()),
        f"files above {LONG} lines": sum(count > LONG for count in lines.values()),
        "public class names": len(places),
        "of these in several files": len(repeated),
        "import circles": len(circles),
        "files in circles": sum(map(len, circles)),
    }
    for name, value in rows.items():
        print(f"{name:28}{value:>9,}")
    print("most repeated:", ", ".join(f"{name} ×{n}" for name, n in repeated.most_common(12)))
    for circle in circles:
        print("circle:", ", ".join(sorted(circle)))


if __name__ == "__main__":
    main()
