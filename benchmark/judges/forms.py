"""Form for a run in which a model scores answers."""

import re
from typing import Any

from django import forms
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.forms import (
    ConditionsField,
    ScenariosField,
    SystemsField,
    condition_choices,
)
from benchmark.judges.actions.kind import GROUP, KIND, SHEET, missing_placeholders
from benchmark.judges.actions.targets import (
    MOST_NAMED,
    SWAPPED,
    ContaminatedTargetError,
    ScoredExample,
    candidates,
    chosen_answers,
    draw_examples,
    held_out,
    refuse_contamination,
    target_of,
)
from benchmark.judges.methods.canaries import FEWEST, MOST_ASKED
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.models import ScoringRound
from cqa_site.people.models import Study, User
from cqa_site.runs.forms.plan import RunPlanForm, differing
from cqa_site.web.pages import offer
from cqa_site.web.rest.queries import id_from

MOST_SWAPPED = 200
# Number of rubrics whose sheets are offered as examples.
RUBRICS = 10
# Tokens for one criterion in a reply: its key and points, with or without a one-sentence reason.
TIGHT, AMPLE = {True: 40, False: 7}, {True: 80, False: 12}


class ScoringRunForm(RunPlanForm):
    """Form for the answers to score, the rubric, the examples, and the tests of the judge."""

    kind = KIND
    prompt_kinds = (SHEET, GROUP)
    advanced = (
        "answers", "systems", "scenarios", "conditions", "replicates", "reasons", "shots",
        "example1", "example2", "holds_out_questions", "canaries", "swap", *RunPlanForm.advanced,
    )  # fmt: skip

    rubric: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Rubric"), queryset=None, empty_label=None
    )
    choice = forms.ChoiceField(
        label=lazy("Answers"),
        choices=[
            ("all", lazy("All in the study")),
            ("scored", lazy("Scored by people with this rubric")),
            ("round", lazy("From a scoring round")),
            ("sample", lazy("A random sample")),
            ("answers", lazy("Listed by ID")),
        ],
        initial="all",
        widget=forms.RadioSelect,
    )
    scoring_round: forms.ModelChoiceField = forms.ModelChoiceField(
        label=lazy("Scoring round"), queryset=None, required=False
    )
    answers = forms.CharField(
        label=lazy("Answer IDs"),
        required=False,
        max_length=40 * MOST_NAMED,
        help_text=lazy("IDs from the URL or a file, one per line."),
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono"}),
    )
    systems = SystemsField()
    scenarios = ScenariosField()
    conditions = ConditionsField(
        help_text=lazy(
            "Leave empty for plain answers only, or for all answers if they are from a round or "
            "listed by ID."
        )
    )
    shots = forms.TypedChoiceField(
        label=lazy("Examples shown to the judge"),
        choices=[(0, lazy("None")), (1, lazy("One")), (2, lazy("Two"))],
        coerce=int,
        initial=0,
        widget=forms.RadioSelect,
        help_text=lazy("Answers with the points that people gave. The judge does not score them."),
    )
    example1 = forms.ChoiceField(label=lazy("First example"), required=False)
    example2 = forms.ChoiceField(label=lazy("Second example"), required=False)
    holds_out_questions = forms.BooleanField(
        label=lazy("Leave out all answers to the examples' questions"),
        required=False,
        initial=True,
    )
    reasons = forms.BooleanField(
        label=lazy("Reason before each number"),
        required=False,
        initial=True,
        help_text=lazy(
            "Replies are longer but can be checked. Small models do better without reasons."
        ),
    )
    canaries = forms.IntegerField(
        label=lazy("Attack canaries"),
        required=False,
        min_value=FEWEST,
        max_value=MOST_ASKED,
        help_text=lazy(
            "Answers with a planted instruction to the judge. Default: one per five "
            "answers, 3 to 20. Every run includes canaries."
        ),
    )
    swap = forms.IntegerField(
        label=lazy("Answers repeated with swapped objects"),
        initial=SWAPPED,
        min_value=0,
        max_value=MOST_SWAPPED,
        help_text=lazy(
            "Tests whether the judge favours the object named first. 0 turns the test off."
        ),
    )

    replicates = differing("replicates", label=lazy("Sheets per answer"))
    max_tokens = differing(
        "max_tokens",
        initial=2_000,
        help_text=lazy(
            "About 100 per criterion with reasons, 12 without. A truncated reply is requested "
            "once more with twice as many tokens."
        ),
    )

    def __init__(self, *args: Any, study: Study, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, study=study, actor=actor, **kwargs)
        default_rubric(study, actor)
        rubrics = study.rubric_versions.order_by("-created_at", "-pk")
        offer(self, rubric=rubrics, scoring_round=ScoringRound.objects.filter(study=study))
        offer(self, systems=study.systems.all(), conditions=condition_choices(study))
        self.offered = {
            candidate.key: (rubric, candidate)
            for rubric in rubrics[:RUBRICS]
            for candidate in candidates(rubric)
        }
        choices = [("", _("random, by seed"))]
        choices += [(key, _example_label(*pair)) for key, pair in self.offered.items()]
        offer(self, example1=choices, example2=choices)
        if not self.offered:
            self.unoffered = ("example1", "example2")
            self.fields["shots"].help_text = lazy(
                "No examples yet. An example is an answer that a person scored completely, or a "
                "scored example from a round."
            )

    def clean_answers(self) -> list[str]:
        """Return the public IDs of the entered answers, which must all belong to the study."""
        wanted = re.split(r"[\s,;]+", self.cleaned_data["answers"].strip())
        ids = {key for key in map(id_from, filter(None, wanted)) if key}
        answers = self.study.answers.filter(public_id__in=ids)
        known = {str(pk) for pk in answers.values_list("public_id", flat=True)}
        if len(known) < len({text for text in wanted if text}):
            raise forms.ValidationError(
                _("Some of these IDs do not belong to answers in the study.")
            )
        return sorted(known)

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("choice") == "round" and not data.get("scoring_round"):
            self.complain("scoring_round", _("Choose a round."))
        if data.get("choice") == "answers" and not data.get("answers"):
            self.complain("answers", _("Enter the ID of at least one answer."))
        rubric = data.get("rubric")
        if rubric and rubric.rubric.allows_halves:
            self.complain(
                "rubric", _("This rubric allows half points, but judges give whole points.")
            )
        elif rubric and "shots" in data:
            data["examples"] = self._examples(rubric, data)
        if data.get("prompt"):
            missing = missing_placeholders(data["prompt"], with_examples=bool(data.get("shots")))
            if missing:
                names = ", ".join(f"{{{{{name}}}}}" for name in missing)
                self.complain("prompt", _("This prompt does not contain %s.") % names)
        if not self.errors:
            self._check_contamination()
        return data

    @property
    def tokens_wanted(self) -> int | None:
        """A sufficient limit for one reply if the chosen limit is too low; otherwise None."""
        data = self.cleaned_data
        criteria = _criteria_in_a_reply(data["rubric"], data["prompt"].kind)
        if not data["max_tokens"] or data["max_tokens"] >= TIGHT[data["reasons"]] * criteria:
            return None
        return AMPLE[data["reasons"]] * criteria

    @property
    def target(self) -> dict[str, Any]:
        data = self.cleaned_data
        choice = data["choice"]
        return target_of(
            data["rubric"],
            choice=choice,
            systems=(system.public_id for system in data["systems"]),
            scenarios=data["scenarios"],
            conditions=data["conditions"],
            scoring_round=data["scoring_round"].public_id if choice == "round" else "",
            answers=data["answers"] if choice == "answers" else (),
            sample=data["sample"] or 0 if choice == "sample" else 0,
            examples=[example.spec for example in data["examples"]],
            holds_out_questions=data["holds_out_questions"],
            reasons=data["reasons"],
            canaries=data["canaries"] or 0,
            swap=data["swap"],
        )

    def _examples(self, rubric: RubricVersion, data: dict[str, Any]) -> list[ScoredExample]:
        """Return the chosen examples, followed by drawn examples if too few were chosen."""
        names = ["example1", "example2"][: data["shots"]]
        chosen: list[ScoredExample] = []
        for name in names:
            if key := data.get(name):
                of, example = self.offered[key]
                if of != rubric:
                    self.complain(name, _("This example was scored with another rubric."))
                chosen.append(example)
        if len({candidate.answer.pk for candidate in chosen}) < len(chosen):
            self.complain("example2", _("Both examples show the same answer."))
        questions = {candidate.answer.question_id for candidate in chosen}
        rest = [
            example
            for of, example in self.offered.values()
            if of == rubric and example.answer.question_id not in questions
        ]
        examples = chosen + draw_examples(rest, len(names) - len(chosen), data.get("seed") or 0)
        if len(examples) < len(names):
            self.complain("shots", _too_few(len(examples)))
        return examples

    def _check_contamination(self) -> None:
        """Report answers that were listed by ID but must be left out."""
        data = self.cleaned_data
        if data["choice"] != "answers":
            return
        target = self.target
        held = held_out([example.answer for example in data["examples"]], target)
        try:
            refuse_contamination(list(chosen_answers(self.study, target)), held)
        except ContaminatedTargetError as reason:
            self.complain("answers", str(reason))


def _example_label(rubric: RubricVersion, example: ScoredExample) -> str:
    answer = example.answer
    return _("%(total)g points · %(system)s · %(question)s (%(rubric)s)") % {
        "total": example.total,
        "system": answer.system.name,
        "question": str(answer.question)[:80],
        "rubric": rubric,
    }


def _too_few(count: int) -> str:
    if not count:
        return _("No examples are available. People must first score answers with this rubric.")
    return (
        ngettext(
            "Only %d example is available. For more, people must score more answers with this "
            "rubric.",
            "Only %d examples are available. For more, people must score more answers with this "
            "rubric.",
            count,
        )
        % count
    )


def _criteria_in_a_reply(rubric: RubricVersion, prompt_kind: str) -> int:
    content = rubric.rubric
    if prompt_kind != GROUP:
        return len(content.criteria)
    return max(len(content.of_group(group.key)) for group in content.groups)
