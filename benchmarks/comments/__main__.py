"""Print the size of each invented world: `python -m benchmarks.comments [seed]`."""

import sys

from benchmarks.comments.worlds import WORLDS, World, make_world

HEADINGS = ("world", "comments", "statements", "distinct texts", "themes", "noise", "several")


def row(world: World) -> tuple[str, ...]:
    """Return a world's row of the table."""
    comments = world.comments
    statements = [each for comment in comments for each in comment.statements]
    noise = sum(each.theme is None for each in statements) / len(statements)
    several = sum(len(comment.statements) > 1 for comment in comments) / len(comments)
    return (
        world.name,
        str(len(comments)),
        str(len(statements)),
        str(len({comment.text for comment in comments})),
        str(len(world.themes)),
        f"{noise:.1%}",
        f"{several:.1%}",
    )


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rows = [HEADINGS, *(row(make_world(name, seed)) for name in WORLDS)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        right = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        print("  ".join([name.ljust(widths[0]), *right]))


if __name__ == "__main__":
    main()
