"""Labels as a kind of work: one sentence, one key, in blocks with control items."""

from collections.abc import Callable
from typing import ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.labelling.models.campaigns import Campaign, Item, Slot
from annotation.labelling.models.votes import VoteEvent
from cqa_site.people.models import Study
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, Words
from cqa_site.rounds.models import Place

from .blocks import Blocks
from .campaigns import prepare_campaign

# What would be gone with a campaign: machines' labels, adopted labels, figures.
MADE_OF_IT = ("judge_runs", "trained_judges", "adoptions", "lent_to", "snapshots")


class Labelling(Blocks):
    """Relevance labels of arguments."""

    name = "label"
    audit = Audit(
        round="campaign",
        person="rater",
        decisions={"exclude": "excluded", "reinstate": "reinstated", "pause": "paused"},
        noun="label_round",
    )
    words = Words(
        rounds=lazy("Label rounds"),
        about=lazy("A round collects labels for a set of arguments under one guideline."),
        things=lazy("Arguments"),
        results=lazy("Figures"),
        work=lazy("Votes"),
        new=lazy("New round"),
    )
    section = "label"
    terms = ("item", "vote", "block", "control item", "judge")
    work_page = "label"
    answer_pages: ClassVar[tuple[str, ...]] = ("label_answer",)
    takes_crowd = True
    crowd_head = "annotation/labelling/_campaign_head.html"
    Round = Campaign
    Item = Item
    Slot = Slot
    Event = VoteEvent
    # Set by rooms above, like `after_closing`: what follows when somebody's block ended, with
    # (campaign, place); ordinary items with those first that a machine is least sure of; and
    # arguments with the labels that people agreed on, with (study, values of the scale).
    after_block: tuple[Callable[..., object], ...] = ()
    least_sure_first: Callable[[Campaign], list[int]] | None = None
    agreed: Callable[[Study, list[int]], list[tuple[int, int]]] | None = None

    def make_slots(self, round_: Campaign) -> None:
        """In the order in which items are served."""
        prepare_campaign(round_, self.least_sure_first)

    def block_ended(self, campaign: Campaign, place: Place) -> None:
        """Somebody answered the last item of a block."""
        for follow in self.after_block:
            follow(campaign=campaign, place=place)

    def check_removal(self, round_: Campaign) -> None:
        """Not if a judge labelled its sentences, or anything else was made of it."""
        if any(getattr(round_, name).exists() for name in MADE_OF_IT):
            raise RoundNotReady(_("Something was made of this round already; it stays."))

    def card(self, done: int) -> Card:
        """Words for a person's first page."""
        if not done:
            text = _(
                "One sentence at a time, one key for each label. Every answer is saved at once."
            )
            return Card(text=text, button=_("Start labelling"), badge="")
        return Card(
            text=_("Go on where you stopped. Every answer is saved at once."),
            button=self.go_on(),
            badge=ngettext("%d labelled by you", "%d labelled by you", done) % done,
        )

    def asks(self, items: int) -> str:
        """How many sentences."""
        text = ngettext(
            "You will read %(items)s sentence and label it. Every answer is saved at once.",
            "You will read %(items)s sentences and label each one. Every answer is saved at once.",
            items,
        )
        return text % {"items": items}

    def counted(self) -> str:
        """Items."""
        return _("Labelled or skipped items, control items included.")

    def go_on(self) -> str:
        """As the first page says it."""
        return _("Go on labelling")


LABELS = Labelling()
