"""Entries for arguments, labels and answers in the menu of a study."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from annotation.answers.models import System
from annotation.corpus.models import Question
from annotation.retrieval.models import Corpus
from cqa_site.web.navigation import EXPERTS, Finder, MenuEntry

FINDERS = (
    Finder(
        kind=_("Question"),
        rows=lambda study: Question.objects.filter(study=study).select_related("comparison"),
        fields=("comparison__object1", "comparison__object2", "aspect", "wording"),
        page="question",
        roles=EXPERTS,
    ),
    Finder(_("System"), lambda study: System.objects.filter(study=study), ("name",), "system"),
    Finder(_("Corpus"), lambda study: Corpus.objects.filter(study=study), ("name",), "corpus"),
)


def study_entries() -> Iterator[MenuEntry]:
    """Yield the menu entries, from arguments to faithfulness."""
    tour = _(
        "Sentences retrieved for each comparison. People label them, and systems write answers "
        "from them."
    )
    yield MenuEntry("data", _("Arguments"), "arguments", place=20, tour=tour)
    yield MenuEntry("data", _("Find arguments"), "find_start", place=30, under=("comparisons/",))
    yield MenuEntry("data", _("Corpora"), "corpora", place=40)
    yield MenuEntry("label", _("Guidelines"), "guidelines", place=50)
    answers = ("answers/", "questions/")
    yield MenuEntry("answers", _("Questions"), "questions", 10, EXPERTS, answers)
    yield MenuEntry("answers", _("Systems"), "systems", place=20)
    yield MenuEntry("answers", _("Editing"), "editing", 25, frozenset({"expert"}))
    tour = _("How closely answers follow the arguments they cite.")
    yield MenuEntry("answers", _("Faithfulness"), "faithfulness", place=60, tour=tour)
    yield MenuEntry("answers", _("Before and after"), "edited_texts", place=70)
