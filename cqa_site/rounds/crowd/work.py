"""What the pages of crowd links ask a kind of round.

Kinds on the engine get their answers from it; a kind with an engine of its own registers one.
"""

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.people.actions.raters import rater_for
from cqa_site.people.models import Membership, Study, User
from cqa_site.rounds.kind import TaskKind, kind_of, kinds
from cqa_site.rounds.models import Round, Sheet
from cqa_site.rounds.serving import next_sheet


class CrowdWork:
    """How much a round has for one person of a crowd link, and how far they are."""

    # Names of addresses: the researchers' page and the work page with (study, round), and those
    # to which work is sent.
    round_page: str
    work_page: str
    answer_pages: tuple[str, ...]
    # The tab of the study, and what stands at the head of the page of links.
    section: str
    head: str = "rounds/crowd/_head.html"
    # What a round calls its row in the kind's own table.
    row: str

    def own(self, round_: Round) -> Any:
        """The round as a row of its kind; no query more for one of `crowd_rounds`."""
        return getattr(round_, self.row)

    def most_items(self, round_: Round) -> int:
        """How many items one person can be served at most."""
        raise NotImplementedError

    def done_by(self, round_: Round, user: User) -> int:
        """How many of them somebody has done."""
        raise NotImplementedError

    def reason(self, round_: Round, membership: Membership) -> str:
        """Why nothing waits for the member; empty while something does.

        ``stopped`` and ``not_qualified`` screen somebody out.
        """
        raise NotImplementedError

    def asks(self, items: int) -> str:
        """What is asked of people, before they begin."""
        raise NotImplementedError

    def counted(self) -> str:
        """What counts towards the number that a link asks for."""
        raise NotImplementedError

    def go_on(self) -> str:
        """The words on the button back to work."""
        return _("Go on")


class EngineWork(CrowdWork):
    """Rounds of a kind that the engine serves."""

    def __init__(self, kind: TaskKind) -> None:
        self.kind = kind
        self.round_page, self.work_page = kind.audit.round, kind.work_page
        self.answer_pages = (f"{kind.work_page}_save", f"{kind.work_page}_submit")
        self.section = kind.section
        self.row = str(kind.Round._meta.model_name)

    def most_items(self, round_: Round) -> int:
        """Every item comes to a person once, blind repeats on top; nobody gets any of a draft."""
        if round_.state == Round.State.DRAFT:
            return 0
        items = self.kind.Item._default_manager.filter(round=round_.pk)
        return items.filter(key_points__isnull=True).count()

    def done_by(self, round_: Round, user: User) -> int:
        """Submitted sheets without examples, whether figures use them or not."""
        own = self.kind.Sheet._default_manager.filter(round=round_.pk, rater__user=user)
        return own.filter(state=Sheet.State.SUBMITTED, is_example=False).count()

    def reason(self, round_: Round, membership: Membership) -> str:
        """What serving says."""
        rater = rater_for(membership=membership)
        return next_sheet(round_=self.own(round_), rater=rater).reason

    def asks(self, items: int) -> str:
        """How many sheets, and what there is to do."""
        text = ngettext(
            "You will fill in %(items)s sheet.", "You will fill in %(items)s sheets.", items
        )
        return f"{text % {'items': items}} {self.kind.card(0).text}"

    def counted(self) -> str:
        """Sheets."""
        return _("Submitted sheets, blind repeats included, examples not.")


_OWN: dict[str, CrowdWork] = {}


def register(name: str, work: CrowdWork) -> None:
    """Make rounds of a kind that the engine does not serve known; called from ``ready()``."""
    _OWN[name] = work


def works() -> dict[str, CrowdWork]:
    """What every kind with crowd links answers, by its name."""
    return _OWN | {kind.name: EngineWork(kind) for kind in kinds() if kind.takes_crowd}


def work_of(round_: Round) -> CrowdWork:
    """What the kind of a round answers."""
    return _OWN.get(round_.kind) or EngineWork(kind_of(round_))


def crowd_rounds(study: Study) -> QuerySet[Round]:
    """The rounds of a study that people of a crowd may come into, with their kinds' own rows."""
    known = works()
    rows = [work.row for work in known.values()]
    return Round.objects.filter(study=study, kind__in=known).select_related("study", *rows)


def answer_pages() -> set[str]:
    """Names of the addresses to which people send their work."""
    return {page for work in works().values() for page in work.answer_pages}
