"""The scoring judge: a language model fills the sheet that people fill.

Two forms, by the kind of the prompt version: the whole sheet in one reply, or one group of
criteria a reply.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from benchmark.judges.methods.judgement_reading import READER_VERSION, read_judgement
from benchmark.judges.reports.calls import Asked
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.runs import ScoringRun
from cqa_site.people.models import Rater
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.kinds import Ended, Question, Reading, Subject
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning.spread import MOST
from cqa_site.runs.raters import rater_of

from .checks import find_problems
from .examples import example_answers, held_out, refuse_contamination
from .prompts import GROUP, Shots, Writer, group_of, missing_placeholders
from .storing import store_ended
from .subjects import subjects_of
from .targets import is_the_text_of, rubric_of

KIND = "scoring"


class ScoringKind:
    """What the engine asks this app about runs of the kind ``scoring``."""

    parser_version = READER_VERSION
    values_title = lazy("Totals:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Tie the run to its rubric, its examples and the rater it counts as."""
        target = run.spec["target"]
        rubric = run.study.rubric_versions.get(public_id=target["rubric"])
        refuse_unfit(run, rubric)
        ScoringRun.objects.create(
            run=run,
            rubric=rubric,
            rater=_rater(run),
            examples=[answer.pk for answer in example_answers(run.study, target)],
        )

    def subjects(self, run: Run) -> list[Subject]:
        """One subject an answer, or one for each group of criteria; then the probes."""
        target = run.spec["target"]
        groups = len(rubric_of(target).groups) if run.prompt.kind == GROUP else 0
        return subjects_of(run.study, target, run.spec["seed"], groups)

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[Question]:
        """Write the prompts; two queries. Raises `Contaminated` before anything could leave."""
        target = run.spec["target"]
        asked = [Asked(*subject.ids) for subject in subjects]
        examples = example_answers(run.study, target)
        rows = Answer.objects.filter(study=run.study).select_related("question__comparison")
        found = rows.in_bulk({each.answer for each in asked})
        refuse_contamination(list(found.values()), held_out(examples, target))
        shots = Shots(examples, target["examples"])
        writer = Writer(run.prompt, rubric_of(target), target, shots)
        return [writer.write(each, found[each.answer]) for each in asked]

    def read(self, run: Run, call: Call, reply: Reply) -> Reading:
        """Read one reply into a `Judgement`: all criteria asked for, or none and the reason."""
        rubric = rubric_of(run.spec["target"])
        group = group_of(run.prompt, rubric, Asked(*call.subject_ids))
        found = read_judgement(
            reply.text, reply.finish_reason, rubric, group=group, refusal=reply.refusal
        )
        if found.is_scored:
            return Reading(value=found)
        return Reading.unscored(found.reading, found)

    def store(self, run: Run, ended: Sequence[Ended]) -> None:
        """One sheet an answer and replicate; probes apart, because they enter no mean."""
        store_ended(run, ended)

    def values(self, run: Run) -> dict[str, int]:
        """How often each total was given; of single groups where a reply holds just one."""
        totals: Counter[tuple[str, Any]] = Counter()
        if run.prompt.kind == GROUP:
            parts = run.judgement_parts.filter(reason="").values_list("group", "points")
            totals.update((group, sum(points.values())) for group, points in parts)
        else:
            sheets = run.score_sheets.filter(total__isnull=False)
            totals.update(("", total) for total in sheets.values_list("total", flat=True))
        return {
            f"{group}: {total:g}" if group else f"{total:g}": n
            for (group, total), n in sorted(totals.items())
        }

    def texts(self, run: Run) -> Sequence[str]:
        """Points, no prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Sheets, parts and probes against the ledger and against the replies themselves."""
        return find_problems(run, self.read)


def refuse_unfit(run: Run, rubric: RubricVersion) -> None:
    """Raise `RunRefused` where the judge would not be given what people are given."""
    target = run.spec["target"]
    if not is_the_text_of(rubric, target):
        raise RunRefused("The plan does not hold the text of this version of the rubric.")
    if rubric.rubric.allows_halves:
        raise RunRefused("A judge gives whole points; this rubric allows half ones.")
    if missing := missing_placeholders(run.prompt, with_examples=bool(target["examples"])):
        names = ", ".join(f"{{{{{name}}}}}" for name in missing)
        raise RunRefused(f"The prompt does not show {names}.")


def _rater(run: Run) -> Rater:
    """One rater for each combination of model, prompt, rubric, number of examples and parameters.

    Which examples are shown is no part of it: two runs that hold out different answers complete
    each other.
    """
    target = run.spec["target"]
    shots = len(target["examples"])
    return rater_of(
        run,
        rater_name(run.spec["model"], shots, run.prompt),
        rubric=target["rubric_sha256"],
        shots=shots,
        reasons=target["reasons"],
    )


def rater_name(model: str, shots: int, prompt: PromptVersion) -> str:
    """A judge as tables name it."""
    return f"{model} · {shots}-shot · {prompt}"[:120]
