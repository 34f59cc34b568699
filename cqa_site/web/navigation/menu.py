"""The menu of a study: groups that follow the work, and what stands in them.

Every app says which of its pages belong there. Which entry a page belongs to follows from the
addresses: the longest one that the page's address begins with.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

# Stands for a study while addresses are cut into what comes before and after it.
ANY_STUDY = UUID(int=0)


@dataclass(frozen=True)
class Group:
    """Entries under one heading.

    ``icon`` is a name in the site's sprite, ``help`` a file of `docs` without its ending.
    """

    key: str
    title: Promise
    icon: str
    help: str


GROUPS = (
    Group("data", _("Data"), "database", "data-formats"),
    Group("label", _("Label"), "tag", "quickstart"),
    Group("answers", _("Answers"), "message", "answers"),
    Group("score", _("Score"), "trophy", "scoring"),
    Group("key_points", _("Key points"), "list", "key-points"),
    Group("judges", _("Judges"), "cpu", "judging"),
    Group("study", _("Study"), "settings", "deploy"),
)
# Who sees an entry, as the roles of members are stored.
RESEARCHERS = frozenset({"researcher", "admin"})
EXPERTS = RESEARCHERS | {"expert"}
ADMINS = frozenset({"admin"})


@dataclass(frozen=True)
class Entry:
    """A page of the menu.

    Parameters
    ----------
    page
        The name of its address, which takes the study alone.
    place
        Small numbers come first in the group.
    under
        Where else pages live that belong to it, as addresses begin inside a study.
    waits
        How many things wait there for somebody who runs the study; asked after the page is there.
    tour
        What the page is for, where the tour of a study stops at it.
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
        """Its address inside a study."""
        return _inside(self.page)


@dataclass(frozen=True)
class Shown:
    """An entry as one member of a study sees it."""

    entry: Entry
    url: str
    is_current: bool


@dataclass(frozen=True)
class ShownGroup:
    """A group with the entries that a member may open."""

    group: Group
    entries: tuple[Shown, ...]

    @property
    def is_current(self) -> bool:
        """Whether the page at hand belongs here."""
        return any(each.is_current for each in self.entries)


@dataclass(frozen=True)
class Here:
    """Where a page stands: its group, and the page of the menu above it unless it is that one."""

    group: str
    title: str = ""
    url: str = ""


Source = Callable[[], Iterable[Entry]]
_SOURCES: list[Source] = []


def add(source: Source) -> None:
    """Have entries in the menu; called from an app's ``ready()``, asked at the first request."""
    _SOURCES.append(source)
    entries.cache_clear()


@cache
def entries() -> tuple[Entry, ...]:
    """Everything in the menu, by group and place.

    A page that several sources name stands where the first place is, and what waits is counted.
    """
    order = [each.key for each in GROUPS]
    named = sorted((entry for source in _SOURCES for entry in source()), key=lambda e: e.place)
    found: dict[str, Entry] = {}
    for each in named:
        first = found.get(each.page, each)
        found[each.page] = replace(first, waits=first.waits or each.waits)
    return tuple(sorted(found.values(), key=lambda each: (order.index(each.group), each.place)))


def menu_of(study_id: UUID, role: str, here: str) -> list[ShownGroup]:
    """The groups of a member; ``here`` is the address of a page inside the study."""
    allowed = [each for each in entries() if role in each.roles]
    current = entry_at(here, allowed)
    begin = _begin().replace(str(ANY_STUDY), str(study_id))
    shown = [Shown(each, begin + each.path, each is current) for each in allowed]
    groups = [
        ShownGroup(group, tuple(each for each in shown if each.entry.group == group.key))
        for group in GROUPS
    ]
    return [each for each in groups if each.entries]


def place_of(address: str, study_id: UUID, groups: Iterable[ShownGroup]) -> Here | None:
    """Where the page of this address stands; nothing for a study's first page."""
    for shown in groups:
        for each in shown.entries:
            if each.is_current and each.url == address:
                return Here(str(shown.group.title))
            if each.is_current:
                return Here(str(shown.group.title), str(each.entry.title), each.url)
    overview = reverse("study", args=[study_id])
    return None if address == overview else Here("", gettext("Overview"), overview)


def entry_at(here: str, among: Iterable[Entry]) -> Entry | None:
    """The entry whose address the page's own begins with, the longest one."""
    fits = [
        (len(path), entry)
        for entry in among
        for path in (entry.path, *entry.under)
        if here.startswith(path)
    ]
    return max(fits, key=lambda each: each[0])[1] if fits else None


def inside(address: str) -> str:
    """What comes after the study in the address of one of its pages."""
    return address.removeprefix(_begin()[: -len(f"{ANY_STUDY}/")])[len(f"{ANY_STUDY}/") :]


@cache
def _begin() -> str:
    return reverse("study", args=[ANY_STUDY])


@cache
def _inside(page: str) -> str:
    return reverse(page, args=[ANY_STUDY]).removeprefix(_begin())
