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

# The menu of a study: groups in the order of the work, and their entries.
#
# Every app registers its pages for the menu. A page belongs to the entry with the longest address
# that the page's address begins with.

# Placeholder for a study when addresses are split into the parts before and after it.
ANY_STUDY = UUID(int=0)


@dataclass(frozen=True)
class MenuGroup:
    """Menu entries under one heading.

    ``icon`` is the name of an icon in the site's sprite; ``help`` is the name of a file in `docs`,
    without its extension.
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
# Roles that see an entry, as stored for members.
RESEARCHERS = frozenset({"researcher", "admin"})
EXPERTS = RESEARCHERS | {"expert"}
ADMINS = frozenset({"admin"})


@dataclass(frozen=True)
class MenuEntry:
    """A page in the menu.

    Parameters
    ----------
    page
        The URL name of the page, whose only argument is the study.
    place
        Entries with small numbers come first in the group.
    under
        Address prefixes, inside a study, of other pages that belong to the entry.
    waits
        Function that returns the number of pending items for people who run the study; called
        after the page has loaded.
    tour
        Purpose of the page, if the tour of a study stops at it.
    also
        Other words by which people may search for the page.
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
    """A group with the entries that a member may open. Unneeded groups are under *More*."""

    group: MenuGroup
    entries: tuple[VisibleEntry, ...]
    is_needed: bool = True

    @property
    def is_current(self) -> bool:
        """Whether the current page belongs to the group."""
        return any(entry.is_current for entry in self.entries)


@dataclass(frozen=True)
class Breadcrumb:
    """The location of a page: its group and, if it is not in the menu, the menu page above it."""

    group: str
    title: str = ""
    url: str = ""


Source = Callable[[], Iterable[MenuEntry]]
_SOURCES: list[Source] = []


def add_entries(source: Source) -> None:
    """Register menu entries in an app's ``ready()``; they are read at the first request."""
    _SOURCES.append(source)
    entries.cache_clear()


@cache
def entries() -> tuple[MenuEntry, ...]:
    """Return all menu entries, by group and position.

    A page named by several sources has the first of their positions and the total of their pending
    items.
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
    """Return the menu groups for a member of a study.

    ``here`` is the address of a page inside the study.

    ``needed`` contains the keys of the groups that the study's question needs; if it is empty, all
    groups are needed.
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
    """Return the part of a page's address that follows the study."""
    return address.removeprefix(_begin()[: -len(f"{ANY_STUDY}/")])[len(f"{ANY_STUDY}/") :]


@cache
def _begin() -> str:
    return reverse("study", args=[ANY_STUDY])


@cache
def _inside(page: str) -> str:
    return reverse(page, args=[ANY_STUDY]).removeprefix(_begin())


# Questions that a study can answer, and the steps to the answer, defined for every paper.


@dataclass(frozen=True)
class StudyStep:
    """One step of a study, with its status and the page where it is done."""

    title: str
    text: str
    button: str
    url: str
    is_done: bool
    # Another page for the step: its link text and its address.
    other: tuple[str, str] | None = None


@dataclass(frozen=True)
class Path:
    """A question that people open a study to answer.

    ``steps(study)`` returns the steps with their current status. ``groups`` are the menu groups
    that the steps use; the menu shows the other groups under *More*.
    """

    key: str
    question: str | Promise
    about: str | Promise
    steps: Callable[[Any], list[StudyStep]]
    groups: frozenset[str] = frozenset()
    place: int = 50
    # Glossary terms that newcomers may want to look up.
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
    """Return all paths, in the order in which they are offered."""
    return sorted(_PATHS.values(), key=lambda path: path.place)


def path_of(key: str) -> Path:
    """Return the path with this key, or the first path if no path has this key."""
    return _PATHS.get(key) or paths()[0]


def needed_groups(goal: str) -> frozenset[str]:
    """Return the menu groups that a study with this goal needs; empty if it needs all groups."""
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
    """Return a step whose button leads to a page of the study or of an object in the study.

    ``other`` is a second page of the study: its link text and its URL name. A query may follow the
    name, as in ``imports?kind=answers``.
    """
    ids = [study.public_id] if of is None else [study.public_id, of.public_id]
    second = other and (other[0], _page_address(other[1], [study.public_id]))
    return StudyStep(title, text, button, _page_address(page, ids), is_done, second)


def _page_address(page: str, ids: list[Any]) -> str:
    name, mark, query = page.partition("?")
    return f"{reverse(name, args=ids)}{mark}{query}"


# Search for objects of a study by name; every app registers its own objects.

# Maximum number of results of each kind.
MOST_SHOWN = 5


@dataclass(frozen=True)
class Finder:
    """The search for one kind of object.

    ``rows`` returns a study's rows in display order, ``fields`` are searched for the words, and
    ``page`` is the page of a row.
    """

    kind: str | Promise
    rows: Callable[[Any], QuerySet[Any]]
    fields: tuple[str, ...]
    # URL name with the study and the row as arguments; only the study if ``is_listed``.
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


# A tour of a study: the menu pages with a stated purpose, one after another.

# Query parameter that marks a page as a stop.
TOUR = "tour"


@dataclass(frozen=True)
class Stop:
    """One page of a tour; ``back`` is empty at the first stop and ``on`` at the last one."""

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
