"""What a study can find out, and the steps that lead there; every paper says its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext


@dataclass(frozen=True)
class Step:
    """One step of a study, with where it stands and the page where it is done."""

    title: str
    text: str
    button: str
    url: str
    is_done: bool
    # Another page where the step can be done: the words of its link, and its address.
    other: tuple[str, str] | None = None


@dataclass(frozen=True)
class Path:
    """A question that people open a study with.

    ``steps(study)`` looks up how far the study is; each step is done only when it is.
    """

    key: str
    question: str | Promise
    about: str | Promise
    steps: Callable[[Any], list[Step]]
    place: int = 50
    # Words of the glossary that somebody new to it may want to look up.
    terms: tuple[str, ...] = ()

    def terms_in(self, shown: Sequence[Step]) -> tuple[str, ...]:
        """Those of its words that stand in what it says now."""
        said = [str(self.about)]
        for each in shown:
            said += [each.title, each.text, each.button, each.other[0] if each.other else ""]
        text = " ".join(said).casefold()
        return tuple(each for each in self.terms if gettext(each).casefold() in text)


_PATHS: dict[str, Path] = {}


def add(*paths: Path) -> None:
    """Offer paths; called from an app's ``ready()``."""
    _PATHS.update({each.key: each for each in paths})


def paths() -> list[Path]:
    """All of them, in the order in which they are offered."""
    return sorted(_PATHS.values(), key=lambda each: each.place)


def path_of(key: str) -> Path:
    """The path of that name; the first one where there is none, or not any more."""
    return _PATHS.get(key) or paths()[0]


def step(
    study: Any,
    *,
    title: str,
    text: str,
    button: str,
    page: str,
    is_done: bool,
    of: Any = None,
    other: tuple[str, str] | None = None,
) -> Step:
    """A step whose button leads to a page of the study, or of one thing in it.

    ``other`` is a second page of the study: the words of its link, and its name. A query may
    follow a name, as in ``imports?kind=answers``.
    """
    ids = [study.public_id] if of is None else [study.public_id, of.public_id]
    second = other and (other[0], _address(other[1], [study.public_id]))
    return Step(title, text, button, _address(page, ids), is_done, second)


def _address(page: str, ids: list[Any]) -> str:
    name, mark, query = page.partition("?")
    return f"{reverse(name, args=ids)}{mark}{query}"
