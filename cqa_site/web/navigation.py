"""Navigation of a study: menu, paths, search and tour."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

# The menu of a study: groups that follow the work, and what stands in them.
#
# Every app says which of its pages belong there. Which entry a page belongs to follows from the
# addresses: the longest one that the page's address begins with.

# Stands for a study while addresses are cut into what comes before and after it.
ANY_STUDY = UUID(int=0)


@dataclass(frozen=True)
class MenuGroup:
    """Menu entries under one heading.

    ``icon`` is a name in the site's sprite, ``help`` a file of `docs` without its ending.
    """

    key: str
    title: Promise
    icon: str
    help: str


GROUPS = (
    MenuGroup("data", _("Data"), "database", "data-formats"),
    MenuGroup("label", _("Label"), "tag", "quickstart"),
    MenuGroup("answers", _("Answers"), "message", "answers"),
    MenuGroup("score", _("Score"), "trophy", "scoring"),
    MenuGroup("key_points", _("Key points"), "list", "key-points"),
    MenuGroup("judges", _("Judges"), "cpu", "judging"),
    MenuGroup("study", _("Study"), "settings", "deploy"),
)
# Who sees an entry, as the roles of members are stored.
RESEARCHERS = frozenset({"researcher", "admin"})
EXPERTS = RESEARCHERS | {"expert"}
ADMINS = frozenset({"admin"})


@dataclass(frozen=True)
class MenuEntry:
    """A page in the menu.

    Parameters
    ----------
    page
        The name of its address, which takes the study alone.
    place
        Small numbers come first in the group.
    under
        Where else pages live that belong to it, as addresses begin inside a study.
    waits
        Number of pending items for people who run the study; requested after the page has loaded.
    tour
        Purpose of the page, if the tour of a study stops at it.
    also
        Other words that people look for it with, for the search box.
    """

    group: str
    title: str | Promise
    page: str
    place: int = 50
    roles: frozenset[str] = RESEARCHERS
    under: tuple[str, ...] = ()
    waits: Callable[[Any], int] | None = None
    tour: str | Promise = ""
    also: str | Promise = ""

    @property
    def path(self) -> str:
        """The entry's address inside a study."""
        return _inside(self.page)


@dataclass(frozen=True)
class VisibleEntry:
    """A menu entry as one member of a study sees it."""

    entry: MenuEntry
    url: str
    is_current: bool


@dataclass(frozen=True)
class VisibleGroup:
    """A group with the entries a member may open. Unneeded groups are listed under *More*."""

    group: MenuGroup
    entries: tuple[VisibleEntry, ...]
    is_needed: bool = True

    @property
    def is_current(self) -> bool:
        """Whether the current page belongs to the group."""
        return any(entry.is_current for entry in self.entries)


@dataclass(frozen=True)
class Breadcrumb:
    """The location of a page: its group, and the menu page above it unless it is that page."""

    group: str
    title: str = ""
    url: str = ""


Source = Callable[[], Iterable[MenuEntry]]
_SOURCES: list[Source] = []


def add_entries(source: Source) -> None:
    """Register menu entries, in an app's ``ready()``: they are read at the first request."""
    _SOURCES.append(source)
    entries.cache_clear()


@cache
def entries() -> tuple[MenuEntry, ...]:
    """Return all menu entries, by group and place.

    A page named by several sources has its first place, and its pending items are added up.
    """
    order = [group.key for group in GROUPS]
    named = sorted((entry for source in _SOURCES for entry in source()), key=lambda e: e.place)
    by_page: dict[str, MenuEntry] = {}
    for menu_entry in named:
        first = by_page.get(menu_entry.page, menu_entry)
        by_page[menu_entry.page] = replace(first, waits=first.waits or menu_entry.waits)
    return tuple(sorted(by_page.values(), key=lambda link: (order.index(link.group), link.place)))


def menu_of(
    study_id: UUID, role: str, here: str, needed: frozenset[str] = frozenset()
) -> list[VisibleGroup]:
    """Return the groups of a member.

    ``here`` is the address of a page inside the study.

    ``needed`` are the keys of the groups that the study's question needs, empty for all.
    """
    allowed = [entry for entry in entries() if role in entry.roles]
    current = entry_at(here, allowed)
    begin = _begin().replace(str(ANY_STUDY), str(study_id))
    menu_entries = [VisibleEntry(entry, begin + entry.path, entry is current) for entry in allowed]
    groups = [
        VisibleGroup(
            group,
            tuple(entry for entry in menu_entries if entry.entry.group == group.key),
            is_needed=not needed or group.key in needed,
        )
        for group in GROUPS
    ]
    return [section for section in groups if section.entries]


def place_of(address: str, study_id: UUID, groups: Iterable[VisibleGroup]) -> Breadcrumb | None:
    """Return the location of the page at this address; None for a study's first page."""
    for group in groups:
        for entry in group.entries:
            if entry.is_current and entry.url == address:
                return Breadcrumb(str(group.group.title))
            if entry.is_current:
                return Breadcrumb(str(group.group.title), str(entry.entry.title), entry.url)
    overview = reverse("study", args=[study_id])
    return None if address == overview else Breadcrumb("", gettext("Overview"), overview)


def entry_at(here: str, among: Iterable[MenuEntry]) -> MenuEntry | None:
    """Return the entry with the longest address that the page's address begins with."""
    fits = [
        (len(path), entry)
        for entry in among
        for path in (entry.path, *entry.under)
        if here.startswith(path)
    ]
    return max(fits, key=lambda fit: fit[0])[1] if fits else None


def inside(address: str) -> str:
    """Return the part of a page's address after the study."""
    return address.removeprefix(_begin()[: -len(f"{ANY_STUDY}/")])[len(f"{ANY_STUDY}/") :]


@cache
def _begin() -> str:
    return reverse("study", args=[ANY_STUDY])


@cache
def _inside(page: str) -> str:
    return reverse(page, args=[ANY_STUDY]).removeprefix(_begin())


# What a study can find out, and the steps that lead there; every paper says its own.


@dataclass(frozen=True)
class StudyStep:
    """One step of a study, with its status and the page to do it."""

    title: str
    text: str
    button: str
    url: str
    is_done: bool
    # Another page where the step can be done: the words of its link, and its address.
    other: tuple[str, str] | None = None


@dataclass(frozen=True)
class Path:
    """A question for which people open a study.

    ``steps(study)`` looks up how far the study is; each step is done only when it is. ``groups``
    are those of the menu that it leads through: the menu shows the others behind *More*.
    """

    key: str
    question: str | Promise
    about: str | Promise
    steps: Callable[[Any], list[StudyStep]]
    groups: frozenset[str] = frozenset()
    place: int = 50
    # Words of the glossary that somebody new to it may want to look up.
    terms: tuple[str, ...] = ()

    def terms_in(self, steps: Sequence[StudyStep]) -> tuple[str, ...]:
        """Return the path's terms that occur in its current text."""
        texts = [str(self.about)]
        for step in steps:
            texts += [step.title, step.text, step.button, step.other[0] if step.other else ""]
        text = " ".join(texts).casefold()
        return tuple(term for term in self.terms if gettext(term).casefold() in text)


_PATHS: dict[str, Path] = {}


def add_paths(*paths: Path) -> None:
    """Register paths; call it in an app's ``ready()``."""
    _PATHS.update({path.key: path for path in paths})


def paths() -> list[Path]:
    """Return all paths, in the order they are offered."""
    return sorted(_PATHS.values(), key=lambda path: path.place)


def path_of(key: str) -> Path:
    """Return the path of that name, or the first one if it does not exist."""
    return _PATHS.get(key) or paths()[0]


def needed_groups(goal: str) -> frozenset[str]:
    """Return the menu groups a study with this goal needs; empty if it needs all."""
    return _PATHS[goal].groups if goal in _PATHS else frozenset()


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
) -> StudyStep:
    """Return a step whose button leads to a page of the study, or of an object in it.

    ``other`` is a second page of the study: the words of its link, and its name. A query may
    follow a name, as in ``imports?kind=answers``.
    """
    ids = [study.public_id] if of is None else [study.public_id, of.public_id]
    second = other and (other[0], _page_address(other[1], [study.public_id]))
    return StudyStep(title, text, button, _page_address(page, ids), is_done, second)


def _page_address(page: str, ids: list[Any]) -> str:
    name, mark, query = page.partition("?")
    return f"{reverse(name, args=ids)}{mark}{query}"


# Things of a study by their names, for the search box: every app says what it has.

# Maximum results of each kind.
MOST_SHOWN = 5


@dataclass(frozen=True)
class Finder:
    """The search for one kind of object.

    ``rows`` are those of a study in the order in which they are shown, ``fields`` are searched for
    the words, and ``page`` is the page of a row.
    """

    kind: str | Promise
    rows: Callable[[Any], QuerySet[Any]]
    fields: tuple[str, ...]
    # The name of an address that takes the study and the row; the study alone if ``is_listed``.
    page: str | Callable[[Any], str]
    roles: frozenset[str] = RESEARCHERS
    is_listed: bool = False
    name: Callable[[Any], str] = str

    def url(self, study: Any, row: Any) -> str:
        """Return the address of a row's page."""
        page = self.page if isinstance(self.page, str) else self.page(row)
        ids = [study.public_id] if self.is_listed else [study.public_id, row.public_id]
        return reverse(page, args=ids)


_FINDERS: list[Finder] = []


def add_finders(*finders: Finder) -> None:
    """Register finders for the search; call it in an app's ``ready()``."""
    _FINDERS.extend(finders)


def find(study: Any, role: str, words: list[str]) -> list[dict[str, str]]:
    """Return rows of every kind that contain all words, with one query per kind."""
    return [
        {"kind": str(finder.kind), "name": finder.name(row)[:120], "url": finder.url(study, row)}
        for finder in _FINDERS
        if role in finder.roles
        for row in finder.rows(study).filter(_holding(finder.fields, words))[:MOST_SHOWN]
    ]


def _holding(fields: tuple[str, ...], words: list[str]) -> Q:
    condition = Q()
    for word in words:
        anywhere = Q()
        for field in fields:
            anywhere |= Q(**{f"{field}__icontains": word})
        condition &= anywhere
    return condition


# A tour of a study: the pages of the menu that say what they are for, one after the other.

# Parameter of an address: its page is a stop.
TOUR = "tour"


@dataclass(frozen=True)
class Stop:
    """One page of a tour; ``back`` and ``on`` are empty at its ends."""

    number: int
    stops: int
    title: str
    says: str
    back: str = ""
    on: str = ""


def first_stop(groups: Iterable[VisibleGroup]) -> str:
    """Return the address where a tour begins; empty if the member has no tour."""
    return next((_stop_address(stop) for stop in _stops(groups)), "")


def stop_at(groups: Iterable[VisibleGroup], here: str) -> Stop | None:
    """Return the stop at a page's address; None if the tour does not stop there."""
    stops = _stops(groups)
    at = next((at for at, stop in enumerate(stops) if stop.url == here), None)
    if at is None:
        return None
    around = {place: _stop_address(stops[place]) for place in (at - 1, at + 1)
              if 0 <= place < len(stops)}  # fmt: skip
    entry = stops[at].entry
    return Stop(
        at + 1,
        len(stops),
        str(entry.title),
        str(entry.tour),
        back=around.get(at - 1, ""),
        on=around.get(at + 1, ""),
    )


def _stops(groups: Iterable[VisibleGroup]) -> list[VisibleEntry]:
    return [entry for group in groups for entry in group.entries if entry.entry.tour]


def _stop_address(entry: VisibleEntry) -> str:
    return f"{entry.url}?{TOUR}=1"
