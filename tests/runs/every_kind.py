"""A small study for each registered kind of run, and a script that answers its requests."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from django.urls import reverse

from annotation.faithfulness.actions.coherence import (
    PROMPTS as COHERENCE_PROMPTS,
    target_of as cited_in,
)
from annotation.judges.actions.relevance_judge import target_of as sentences_of
from argsum.analysis.actions import analyses
from argsum.analysis.models import Analysis
from argsum.counting.actions.judge import (
    COVERAGE,
    PROMPTS as COUNTING_PROMPTS,
    target_of as sets_of,
)
from argsum.keypoints.actions import solver
from argsum.writing.actions.prompts import OF_VARIANT, PROMPTS as WRITING_PROMPTS
from argsum.writing.actions.runs import target_of as clusters_of
from benchmark.preferences.kind import PROMPTS as PREFERENCE_PROMPTS, target_of as pairs_of
from benchmark.rubrics.models import default_rubric
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import Role, Study, User
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.models import Endpoint, PromptVersion, Run
from tests.annotation.faithfulness.made_faithfulness import compute, make_faithful, say
from tests.annotation.generation_lab import GenerationLab
from tests.annotation.made_generations import plan_of as plan_of_answers, write_by_text
from tests.argsum import made_runs
from tests.argsum.analysis.made_comments import analyse, fill, found_by_word, make_cell
from tests.argsum.analysis.made_writing import on_theme, plan_for, word_vectors
from tests.argsum.coding.made_coding import assignment_plan, assigns, list_of, proposal_plan, sign
from tests.argsum.made_cells import make_dataset, make_system_run
from tests.argsum.prose import made_prose
from tests.benchmark.made_judges import fair, plan_of as plan_of_scoring
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_judges import says_later
from tests.benchmark.preferences.made_preferences import make_pairs_round
from tests.cast import make_label_round, make_member, make_study
from tests.runs.judging import answer_by_text
from tests.runs.made_runs import first_prompt, make_endpoint


@dataclass
class World:
    """A study with something to ask about, and a plan over all of it."""

    study: Study
    researcher: User
    endpoint: Endpoint
    plan: RunPlan
    # Of the form: what its address is called, and the ids in it.
    form: str
    ids: list[Any] = field(default_factory=list)
    # What a program names beside endpoint and prompt, and a form beside what it proposes.
    body: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)

    def url(self, name: str, *ids: Any) -> str:
        """The address of a page of the study."""
        return reverse(name, args=[self.study.public_id, *ids])

    def start(self, **chosen: Any) -> Run:
        """Start the run as planned but for what is chosen; nothing is sent."""
        plan = RunPlan(**vars_of(self.plan) | chosen)
        return start_run(study=self.study, actor=self.researcher, plan=plan)


def vars_of(plan: RunPlan) -> dict[str, Any]:
    """The fields of a plan."""
    return {name: getattr(plan, name) for name in RunPlan.__dataclass_fields__}


def people() -> tuple[Study, User, Endpoint]:
    """A study, somebody who starts runs, and an endpoint with a price."""
    study = make_study()
    researcher = make_member(study, Role.RESEARCHER)
    return study, researcher, make_endpoint(study, researcher)


def plan_of(
    kind: str, endpoint: Endpoint, prompt: PromptVersion, target: dict, tokens: int = 400
) -> RunPlan:
    """Everything at once, at temperature 0."""
    params = {"temperature": 0, "max_tokens": tokens}
    return RunPlan(kind, endpoint, prompt, target, params, preflight="off")


def relevance() -> World:
    """Three sentences of a round."""
    study, researcher, endpoint = people()
    label_round = make_label_round(study, ordinary=3, controls=0)
    prompt = first_prompt(study, researcher)
    plan = plan_of("relevance", endpoint, prompt, sentences_of(label_round))
    round_id = label_round.public_id
    body = {"label_round": str(round_id)}
    return World(study, researcher, endpoint, plan, "run_new", [round_id], body)


def answers() -> World:
    """Three questions with two arguments each."""
    lab = GenerationLab(questions=3, arguments=2)
    plan = plan_of_answers(lab.study, lab.endpoint)
    return World(lab.study, lab.researcher, lab.endpoint, plan, "generation_new")


def coherence() -> World:
    """One answer with three citations."""
    study, researcher, endpoint = people()
    make_faithful(study, questions=1)
    compute(study)
    prompt = first_prompts(study, COHERENCE_PROMPTS, researcher)[0]
    plan = plan_of("coherence", endpoint, prompt, cited_in())
    return World(study, researcher, endpoint, plan, "coherence_run_new")


def scoring() -> World:
    """Two answers, beside canaries and swaps."""
    study, researcher, endpoint = people()
    make_scored_answers(study, systems=("Alpha",), questions=2)
    plan = plan_of_scoring(study, endpoint, researcher)
    fields = {"rubric": default_rubric(study).pk}
    return World(study, researcher, endpoint, plan, "scoring_run_new", fields=fields)


def preferring() -> World:
    """Two pairs of answers, in both orders."""
    study, researcher, endpoint = people()
    make_scored_answers(study, questions=2)
    made = make_pairs_round(study, researcher, size=2)
    (prompt,) = first_prompts(study, PREFERENCE_PROMPTS, researcher)
    plan = plan_of("preferring", endpoint, prompt, pairs_of(round_=made.public_id, choice="round"))
    body = {"choice": "round", "preference_round": str(made.public_id)}
    fields = body | {"preference_round": made.pk}
    return World(study, researcher, endpoint, plan, "preference_run_new", [], body, fields)


def writing() -> World:
    """A run of a system that waits, with two clusters in each of two cells."""
    study, researcher, endpoint = people()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "match_scorer_of", lambda _scorer: made_runs.PlaceScorer())
        waiting = made_runs.make_run(make_dataset(study), researcher, variant="global")
    prompts = {each.kind: each for each in first_prompts(study, WRITING_PROMPTS, researcher)}
    prompt = prompts[OF_VARIANT[waiting.variant]]
    plan = plan_of("writing", endpoint, prompt, clusters_of(waiting), tokens=900)
    body = {"system_run": str(waiting.public_id)}
    return World(study, researcher, endpoint, plan, "writing_new", [waiting.public_id], body)


def analysed() -> tuple[Study, User, Endpoint, Analysis]:
    """People, and an analysis with three key points."""
    study, researcher, endpoint = people()
    cell = make_cell(study)
    fill(cell)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("argsum.analysis.methods.key_points.find_points", found_by_word)
        return study, researcher, endpoint, analyse(cell, researcher)


def of_analysis(form: str, plan: Callable[..., RunPlan], **sizes: int) -> World:
    """An analysis with three key points, and a form with some numbers of its own."""
    study, researcher, endpoint, analysis = analysed()
    body = {"analysis": str(analysis.public_id)} | sizes
    made = plan(analysis, endpoint, researcher)
    return World(study, researcher, endpoint, made, form, [analysis.public_id], body, sizes)


def proposal(*of: Any) -> RunPlan:
    """Statements of an analysis, in two samples that say the same."""
    samples = {"requests": 2, "sample": 6, "points": 20, "themes": 6, "words": 15}
    return proposal_plan(*of, sizes=samples)


def assignment(analysis: Analysis, endpoint: Endpoint, researcher: User) -> RunPlan:
    """Statements of an analysis whose key points are signed off."""
    sign(analysis, researcher)
    sizes = {"batch_size": 1, "most_codes": 3}
    return assignment_plan(analysis, endpoint, researcher, sizes=sizes)


point_writing = partial(of_analysis, "point_writing", plan_for)
analysis_prose = partial(of_analysis, "analysis_prose", made_prose.plan_for)
point_proposal = partial(of_analysis, "point_proposal", proposal, requests=2, statements=6)
point_assignment = partial(of_analysis, "point_assignment", assignment, batch_size=4)


def counting() -> World:
    """Two sets of key points."""
    study, researcher, endpoint = people()
    make_system_run(make_dataset(study))
    prompts = {each.kind: each for each in first_prompts(study, COUNTING_PROMPTS, researcher)}
    plan = plan_of("counting", endpoint, prompts[COVERAGE], sets_of())
    return World(study, researcher, endpoint, plan, "counting_run_new")


@dataclass(frozen=True)
class Case:
    """How one kind is tried out.

    Parameters
    ----------
    build
        Makes the world.
    answer
        A usable reply to any request.
    rows
        Rows of a run, one for each of its requests, by the names of their relations.
    changed
        A value that is not what the reply of any row says.
    """

    build: Callable[[], World]
    answer: Callable[[ChatRequest], str]
    rows: tuple[str, ...]
    changed: dict[str, Any]


CASES = {
    "relevance": Case(relevance, answer_by_text, ("judge_labels",), {"fence": 9}),
    "answers": Case(answers, write_by_text, ("answers",), {"text": "Changed."}),
    "coherence": Case(
        coherence, lambda _request: say(), ("coherence_verdicts",), {"is_coherent": False}
    ),
    "scoring": Case(scoring, fair, ("score_sheets", "probe_results"), {"total": 0}),
    "preferring": Case(preferring, says_later, ("preference_sheets",), {"verdict": "both_bad"}),
    "writing": Case(writing, made_runs.in_order, ("written_parts",), {"texts": {"0": "Other"}}),
    "point_writing": Case(point_writing, on_theme, ("written_points",), {"text": "Changed"}),
    "analysis_prose": Case(
        analysis_prose, made_prose.on_theme, ("prose_paragraphs",), {"sentences": []}
    ),
    "point_proposal": Case(
        point_proposal,
        lambda _request: list_of(("Noise", "It is quiet.", [1])),
        ("proposed_lists",),
        {"entries": [["", "Changed.", []]]},
    ),
    "point_assignment": Case(point_assignment, assigns, ("coded_statements",), {"codes": ["K9"]}),
    "counting": Case(counting, lambda _request: "Count: 1", ("count_replies",), {"count": 0.5}),
}


def without_models(patch: pytest.MonkeyPatch) -> None:
    """What jobs after a run would ask of a model, they read from words."""
    patch.setattr(solver, "match_scorer_of", lambda _scorer: made_runs.PlaceScorer())
    patch.setattr(analyses.ScorerTools, "vectors", lambda _tools, texts: word_vectors(texts))
