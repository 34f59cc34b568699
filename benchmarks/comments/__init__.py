"""Invented comments whose themes are known, and pairs of statements that clash or agree."""

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
