"""Import formats for votes, final labels, answers, questions and any table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _, ngettext_lazy

from annotation.answers.models import Answer
from annotation.consensus.actions.consensus import request_everywhere
from annotation.corpus.methods.column_guess import guess_mapping, is_own_export, unread_labels
from annotation.corpus.methods.generic_table import REQUIRED_FIELDS, VOTE_FIELDS, labels_by_rater
from annotation.labelling.models import LabelRound
from cqa_site.files.actions.imports import ImportOutcome, Reconciliation
from cqa_site.files.actions.recognition import preview_of
from cqa_site.files.format_parts import ObjectCount, Option, register_counted, register_options
from cqa_site.files.formats import JUDGED, WRITTEN, Format, PageLink, Text, register_format
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.people.models import Study, User
from cqa_site.tabular import FilePreview
from . import samples
from .actions import entries, vote_sources
from .actions.entries import SystemOrigin, gold_origin, origin_of, read_questions, silver_origin
from .actions.reconciliation import StudyReconciliation
from .forms import TableImportForm

ARGUMENTS_PAGE = ("arguments", _("Arguments"))
ANSWERS_PAGE = ("questions", _("Questions and answers"))
NEW_ARGUMENTS = ngettext_lazy("%(shown)s new argument", "%(shown)s new arguments", "number")
NEW_QUESTIONS = ngettext_lazy("%(shown)s new question", "%(shown)s new questions", "number")
NEW_ANSWERS = ngettext_lazy("%(shown)s new answer", "%(shown)s new answers", "number")
NEW_VOTES = ngettext_lazy("%(shown)s new vote", "%(shown)s new votes", "number")
TO_LABEL = _("The arguments can be labelled in a round.")
TO_A_ROUND = _("Label them in a new round")
SIDE_BY_SIDE = _("The answers appear side by side with those from other systems.")
WHO_WROTE = _("See who wrote the answers")


@dataclass(frozen=True)
class StudyFormat(Format):
    """A format for entries of this study, optionally with labels."""

    reconciliation: type[Reconciliation] = StudyReconciliation
    next_step: Text = TO_LABEL
    home: tuple[str, Text] | None = ARGUMENTS_PAGE

    def told(self, file: ImportFile) -> Mapping[str, Any]:
        """Return the round that received the file's labels."""
        return {"label_round": file.round and file.round.public_id}

    def applied(self, outcome: ImportOutcome, actor: User | None) -> None:
        """Compute the final labels of the imported rounds."""
        label_rounds = LabelRound.objects.select_related("study").in_bulk(outcome.rounds)
        for label_round in label_rounds.values():
            request_everywhere(label_round=label_round, actor=actor)

    def follow(self, file: ImportFile) -> Text:
        """Return a note on the rounds that contain the labels."""
        number = file.counts.get("label_rounds", {}).get("new", 0)
        if number > 1:
            return gettext("The labels are in %s rounds; this is the first.") % number
        if file.round:
            return gettext(
                "The labels are in a separate round; see that round for agreement and final "
                "labels."
            )
        return super().follow(file)

    def links(self, study: Study, file: ImportFile | ImportBatch) -> list[PageLink]:
        """Return links; the first opens the round or, if there are no labels, a new-round form."""
        label_round = getattr(file, "round", None)
        if label_round is None and self.home == ARGUMENTS_PAGE:
            address = reverse("label_round_new", args=[study.public_id])
            return [PageLink(TO_A_ROUND, address), *super().links(study, file)]
        if label_round is None:
            return super().links(study, file)
        address = reverse("label_round", args=[study.public_id, label_round.public_id])
        return [
            PageLink(gettext("Open the round “%s”") % label_round.name, address),
            *super().links(study, file),
        ]


@dataclass(frozen=True)
class AnswersFormat(StudyFormat):
    """A format for one system's answers; ``origin`` returns the system and the scenario."""

    origin: Callable[[str, Mapping[str, Any]], SystemOrigin] = origin_of
    is_many: bool = True
    tells: tuple[str, ...] = ("system", "scenario")
    tells_title: Text = WHO_WROTE
    next_step: Text = SIDE_BY_SIDE
    home: tuple[str, Text] | None = ANSWERS_PAGE

    def follow(self, file: ImportFile) -> Text:
        """Return a note if no other system has answers to compare with."""
        systems = file.study.answers.order_by().values("system").distinct()
        if len(systems[:2]) > 1:
            return super().follow(file)
        return gettext(
            "No other system has answered yet. Answers from a second system will appear "
            "alongside these."
        )

    def told(self, file: ImportFile) -> Mapping[str, Any]:
        """Return the scenario and the system that wrote the answers."""
        origin = self.origin(file.name, file.options)
        return {"system": origin.system, "scenario": origin.scenario}


class TableFormat(StudyFormat):
    """A table format whose columns are guessed from the headers and the first values."""

    def guess_columns(
        self, study: Study, preview: FilePreview, options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """Guess the columns from the headers and the first values."""
        has_rater = bool(options.get("rater"))
        return guess_mapping(preview.columns, preview.rows, has_rater=has_rater)

    def is_own(self, preview: FilePreview) -> bool:
        """Return whether the columns are those of a votes export."""
        return is_own_export(preview.columns)

    def is_clear(self, file: ImportFile) -> bool:
        """Return whether objects, sentence and, if there are labels, their rater were found.

        A person must confirm labels without a rater, or labels found only from the values.
        """
        mapping = file.options.get("mapping") or {}
        if not set(REQUIRED_FIELDS) <= set(mapping) or labels_by_rater(mapping):
            return False
        preview = preview_of(file, file.options)
        by_name = guess_mapping(preview.columns)
        is_named = all(by_name.get(field) == mapping.get(field) for field in VOTE_FIELDS)
        is_named = is_named or bool(file.options.get("rater"))
        return is_named and not unread_labels(preview.columns, preview.rows, mapping)


def register_study_imports() -> None:
    """Register formats, their counts and their options with the platform."""
    register_counted(
        ObjectCount("comparisons", _("Comparisons"), is_shared=True),
        ObjectCount("arguments", _("Arguments"), NEW_ARGUMENTS, _("New arguments")),
        ObjectCount("questions", _("Questions"), NEW_QUESTIONS, is_shared=True),
        ObjectCount("systems", _("Systems"), is_shared=True),
        ObjectCount("answers", _("Answers"), NEW_ANSWERS, _("New answers")),
        ObjectCount("label_rounds", _("Rounds")),
        ObjectCount("items", _("Items")),
        ObjectCount("raters", _("Raters")),
        ObjectCount("votes", _("Votes"), NEW_VOTES, _("New votes")),
    )
    register_options(
        Option(
            "rater",
            longest=120,
            label=_("Judge or rater of the scores"),
            help_text=_(
                "For judged answers, and for score sheets without a judge or rater column."
            ),
            hint="The judge or rater, if no column identifies them.",
            is_shared=True,
        ),
        Option(
            "label_round",
            longest=100,
            label=_("Round name for the labels"),
            help_text=_("Default: the file name. Ignored for files without labels."),
            hint="The round for the labels; by default the file name.",
            is_shared=True,
            tells=UUID,
            flag="round",
        ),
        Option(
            "system",
            longest=120,
            label=_("System that wrote the answers"),
            title=_("System"),
            help_text=_(
                "Optional. Taken from the kind and name of the file if left empty. Ignored "
                "for files without answers."
            ),
            hint="The system that wrote the answers; by default taken from the file name.",
            is_shared=True,
            tells=str,
        ),
        Option(
            "scenario",
            choices=Answer.Scenario.choices,
            label=_("Scenario of the answers"),
            title=_("Scenario"),
            hint="The prompt used for the answers; 0 for no scenario.",
            is_shared=True,
            tells=int,
        ),
    )
    register_format(
        StudyFormat(
            "toloka",
            _("Labels from crowd workers (Toloka, TSV)"),
            vote_sources.read_crowd,
            heading=JUDGED,
            is_many=True,
            fits=samples.fits_toloka,
            sample=samples.SAMPLES["toloka"],
        ),
        StudyFormat(
            "expert_workbook",
            _("Labels from experts, one sheet each (XLSX)"),
            vote_sources.read_experts,
            heading=JUDGED,
            fits=samples.fits_experts,
            sample=samples.SAMPLES["expert_workbook"],
        ),
        StudyFormat(
            "final_labels",
            _("Final labels (JSON)"),
            vote_sources.read_released,
            heading=JUDGED,
            fits=samples.fits_final_labels,
            sample=samples.SAMPLES["final_labels"],
        ),
        AnswersFormat(
            "silver",
            _("Comparisons with arguments and answers (JSON)"),
            entries.read_silver_answers,
            heading=WRITTEN,
            origin=silver_origin,
            fits=samples.fits_silver,
            sample=samples.SAMPLES["silver"],
        ),
        AnswersFormat(
            "gold",
            _("Edited answers (JSON)"),
            entries.read_gold_answers,
            heading=WRITTEN,
            origin=gold_origin,
            fits=samples.fits_gold,
            sample=samples.SAMPLES["gold"],
        ),
        AnswersFormat(
            "answers",
            _("Answers of one system (JSON)"),
            entries.read_system_answers,
            heading=WRITTEN,
            fits=samples.fits_answers,
            sample=samples.SAMPLES["answers"],
        ),
        StudyFormat(
            "questions",
            _("List of questions (CSV, TSV, JSONL, XLSX)"),
            read_questions,
            is_many=True,
            next_step=_("Systems can answer the questions."),
            home=ANSWERS_PAGE,
            fits=samples.fits_questions,
            sample=samples.SAMPLES["questions"],
        ),
        TableFormat(
            "table",
            _("Sentences or labels in any table, with columns that you map"),
            vote_sources.read_mapped,
            asks="mapping",
            asking=TableImportForm,
            holds=_(
                "Filled in from the headers where they are clear. Object 1, object 2 and the "
                "sentence are required; if label and rater are set too, each row is also "
                "imported as a vote."
            ),
            is_mapped=True,
            is_many=True,
            is_usual=True,
            fits=samples.fits_table,
            sample=samples.SAMPLES["table"],
        ),
    )
