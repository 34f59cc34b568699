"""What the files of this paper say: votes, arguments, answers and questions."""

from dataclasses import dataclass
from datetime import datetime

from annotation.corpus.models.questions import text_key
from cqa_site.files.actions.rows import Entry

Unit = tuple[str, str, str]
ItemKey = tuple[str, str]
RaterKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Vote:
    """One rater's answer to one item as a file states it.

    ``external_id`` is the vote's own id in the source; without one a vote is
    known by its item and rater.
    """

    rater_kind: str
    rater_id: str
    rater_name: str = ""
    label: int | None = None
    state: str = "answered"
    external_id: str = ""
    at: datetime | None = None
    active_ms: int | None = None
    is_extra: bool = False
    is_flagged: bool = False
    is_rater_excluded: bool = False
    skip_reason: str = ""
    block: int = 0
    position: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class ArgumentEntry(Entry):
    """One row of a file: an argument, perhaps as an item of a campaign, perhaps with votes.

    ``item_id`` names the item inside the campaign; "" makes the argument itself
    the item. With ``keeps_first_copy`` a second, different vote of the same
    rater is flagged instead of rejected.
    """

    object1: str
    object2: str
    text: str
    place: str = ""
    source_url: str = ""
    argument_id: str = ""
    campaign: str = ""
    item_id: str = ""
    control_label: int | None = None
    is_retired: bool = False
    votes: tuple[Vote, ...] = ()
    keeps_first_copy: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEntry(Entry):
    """One answer of a file: known by the file's name, its place there and its choice.

    ``arguments`` are the sentences it may cite, under their numbers; with
    ``joins_arguments`` the file has none and those of the same pair in the
    study are meant. ``column`` says where in the record the text stands.
    """

    object1: str
    object2: str
    text: str
    source: str
    position: int
    system: str
    system_kind: str
    aspect: str = ""
    wording: str = ""
    scenario: int = 0
    choice: int = 1
    arguments: tuple[tuple[int, str], ...] = ()
    joins_arguments: bool = False
    column: str = ""


@dataclass(frozen=True, slots=True)
class QuestionEntry(Entry):
    """One question of a list: it is the one with this pair, aspect and wording, or a new one."""

    object1: str
    object2: str
    aspect: str = ""
    wording: str = ""


def unit_of(entry: ArgumentEntry) -> Unit:
    """What makes an argument that argument: its pair, and its sentence's hash."""
    return (entry.object1, entry.object2, text_key(entry.text))


def item_of(entry: ArgumentEntry) -> ItemKey:
    """Campaign and item id; without an id the argument's own hash names the item."""
    if entry.item_id:
        return entry.campaign, entry.item_id
    pair = text_key(f"{entry.object1}\x00{entry.object2}")
    return entry.campaign, f"unit:{pair[:16]}:{text_key(entry.text)}"


def rater_of(vote: Vote) -> RaterKey:
    """Kind and id of a vote's rater."""
    return vote.rater_kind, vote.rater_id
