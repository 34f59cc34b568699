"""Guidelines: a default in our own words, and versions that freeze once used."""

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labelling.models.campaigns import Guideline
from annotation.labelling.models.scales import check_levels
from cqa_site.people.models import Study, User


def default_levels() -> list[dict]:
    """The 0–3 relevance scale (relevance paper, Table 1), ascending."""
    return [
        {
            "value": 0,
            "name": _("Not relevant"),
            "meaning": _("Neither object appears, or nothing said helps to compare them."),
            "example": _("Last winter we had tea with my aunt."),
        },
        {
            "value": 1,
            "name": _("One object only"),
            "meaning": _(
                "Something useful about one of the objects, a superlative, "
                "or both objects each compared with something else."
            ),
            "example": _("Tea keeps well in a closed tin."),
        },
        {
            "value": 2,
            "name": _("Both, no clear reason"),
            "meaning": _(
                "Both objects are compared, but no reason is given, "
                "or it stays open which one is favoured."
            ),
            "example": _("I like tea more than coffee."),
        },
        {
            "value": 3,
            "name": _("Both, with a reason"),
            "meaning": _("Both objects are compared and the sentence says in what one is better."),
            "example": _("Tea stains teeth less than coffee does."),
        },
    ]


def default_body() -> str:
    """Our own instructions for the 0–3 scale, with the paper's hard cases."""
    return _(
        """You see two objects and one sentence from the web. Decide how much the sentence helps
somebody who has to choose between the two objects. Judge the sentence alone: it does not matter
whether you agree with it or whether it is true.

1. Find both objects in the sentence. A product, a close synonym or a clear reference counts as
   the object ("the jet" for *plane*, a phone for its maker).
2. Ask whether the two are compared **with each other**.
3. Ask whether the sentence says **in what** one of them is better, worse or different.

## Hard cases

**Synonyms and parts.** *train / plane*: "The jet is far noisier than the train." Both objects are
there and a property is named: **3**.

**Indirect comparison.** *Model B / Model D*: "B is slower than C, but still quicker than D and E."
From it follows that B is quicker than D: **3**. Other objects in the sentence do not matter.

**Unclear preference.** *chess / draughts*: "Nobody should claim that chess is harder than
draughts." Both are compared, but it stays open which one comes off better: **2**.

**Superlative.** *chess / draughts*: "Chess is the hardest game there is." Only one of the objects
is described; the other does not follow from it: **1**.

**Separate comparisons.** *Model A / Model D*: "A is easier to carry than C, and B is quicker than
D." Both objects occur, each beside something else, never beside each other: **1**.

**Personal taste.** *cats / dogs*: "My brother likes cats more than dogs." A preference without a
reason: **2**.

**Mention without content.** *cats / dogs*: "We once had a cat and a dog." Nothing follows for the
comparison: **0**.

If you cannot read the sentence at all, skip it and say why; do not guess."""
    )


def default_draft(study: Study) -> Guideline:
    """What the next version starts from: the newest one, or our default (not saved)."""
    return study.guidelines.first() or Guideline(
        study=study, title=_("Argument relevance"), body=default_body(), levels=default_levels()
    )


def default_guideline(study: Study, *, actor: User | None = None) -> Guideline:
    """The study's newest guideline; writes version 1 from our default if there is none."""
    draft = default_draft(study)
    if draft.pk is not None:
        return draft
    return save_version(
        study=study, title=draft.title, body=draft.body, levels=draft.levels, actor=actor
    )


@transaction.atomic
def save_version(
    *, study: Study, title: str, body: str, levels: list[dict], actor: User | None
) -> Guideline:
    """Store a new version; raises ScaleNotValid when the levels are no ordinal scale."""
    check_levels(levels)
    # Locking the study serialises two people who save at once: numbers stay gapless.
    Study.objects.select_for_update().get(pk=study.pk)
    last = study.guidelines.aggregate(last=Max("number"))["last"] or 0
    return Guideline.objects.create(
        study=study, number=last + 1, title=title, body=body, levels=levels, created_by=actor
    )


def freeze(guideline: Guideline) -> None:
    """Mark the version as used; from now on a change means a new version."""
    Guideline.objects.filter(pk=guideline.pk, frozen_at__isnull=True).update(
        frozen_at=timezone.now()
    )
