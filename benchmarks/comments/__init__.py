"""Invented comments with known themes, and pairs of statements that contradict or agree."""

from benchmarks.comments.worlds import (
    WORLDS,
    Comment,
    Statement,
    Theme,
    World,
    make_world,
    split_worlds,
    write_csv,
)

__all__ = [
    "WORLDS",
    "Comment",
    "Statement",
    "Theme",
    "World",
    "make_world",
    "split_worlds",
    "write_csv",
]
