"""Runs in which a scripted model wrote answers."""

from annotation.generation.actions.launches import matrix_of, start_launch
from annotation.generation.actions.prompts import PROMPTS, target_of
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.models import Endpoint, PromptVersion, Run
from cqa_site.runs.planning import write_calls
from tests.runs.made_runs import carry_run, scripted

TEXT = """Summary:
{first} and {second} differ in price and taste. {padding}

Main aspects:
- Price: {first} costs less [1].
- Taste: {second} tastes stronger [generated].

Best option: {best}

Used arguments:
1. {first} costs less."""


def write_by_text(request: ChatRequest) -> str:
    """An answer of the full form; its length and its choice depend on the prompt and the seed."""
    said = sum(map(ord, request.messages[-1]["content"])) + request.params.get("seed", 0)
    return TEXT.format(
        first="Tea",
        second="Coffee",
        best=("Tea", "Coffee")[said % 2],
        padding="Both are warm. " * (said % 60),
    )


def scenario(study: Study, number: int = 4, actor: User | None = None) -> PromptVersion:
    """The project's prompt of one scenario."""
    kind = f"answer_{number}"
    return first_prompts(study, {kind: PROMPTS[kind]}, actor)[0]


def plan_of(study: Study, endpoint: Endpoint, **chosen) -> RunPlan:
    """A plan that asks nothing before it goes on; ``target`` holds what differs from the usual."""
    usual = {
        "kind": "answers",
        "endpoint": endpoint,
        "prompt": scenario(study, chosen.pop("number", 4)),
        "target": target_of(**chosen.pop("target", {})),
        "params": {"max_tokens": 900, "seed": 1},
        "preflight": "off",
    }
    return RunPlan(**usual | chosen)


def make_generation(
    study: Study, endpoint: Endpoint, actor: User, answer=write_by_text, **chosen
) -> Run:
    """Start a run over the questions of a study and carry it as far as it goes by itself."""
    return carry_run(study, actor, answer, plan_of(study, endpoint, **chosen))


def make_launch(study: Study, endpoints: list[Endpoint], actor: User, numbers=(1, 4)):
    """A launch of one run for each endpoint and scenario, as far as it goes by itself."""
    plans = [
        plan_of(study, endpoint, number=number, preflight="ask")
        for endpoint in endpoints
        for number in numbers
    ]
    matrix = matrix_of(study, plans, cap_micro=1_000_000)
    with scripted(write_by_text):
        launch = start_launch(study=study, actor=actor, matrix=matrix)
        for made in launch.generations.all():
            # Where the test is one transaction, nothing was rung for.
            write_calls(made.run)
        # A run left at work would be taken up by the next one that drains, without the script.
        drain_inline()
    return launch
