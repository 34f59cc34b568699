"""Runs in which a scripted judge compares pairs."""

from benchmark.preferences.kind import KIND, PROMPTS, target_of
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import RunPlan
from cqa_site.runs.models import Endpoint, Run
from tests.runs.made_runs import carry_run


def says(*verdicts: str):
    """Replies with these verdicts in turn, again from the first when all are used up.

    ``asked`` keeps the requests.
    """
    asked: list = []

    def answer(request) -> str:
        asked.append(request)
        word = verdicts[(len(asked) - 1) % len(verdicts)]
        return f'{{"reason": "Because.", "verdict": "{word}"}}'

    answer.asked = asked
    return answer


def sides_of(request) -> tuple[str, str]:
    """The two answers of a request as they stand there, left and right."""
    left, right = request.messages[-1]["content"].split("\nAnswer B:\n")
    return tuple(each.split("\n=== end")[0].split(" ===\n")[1] for each in (left, right))


def says_later(request) -> str:
    """A judge who always prefers the text that comes later in the alphabet, wherever it stands."""
    left, right = sides_of(request)
    return f'{{"reason": "Later.", "verdict": "{"A" if left > right else "B"}"}}'


def make_preferring_run(
    study: Study, endpoint: Endpoint, actor: User, answer=says_later, **chosen
) -> Run:
    """A run over the pairs of the study, carried as far as it goes by itself."""
    (prompt,) = first_prompts(study, PROMPTS, actor)
    plan = {
        "kind": KIND,
        "endpoint": endpoint,
        "prompt": prompt,
        "target": target_of(**chosen.pop("target", {})),
        "params": {"temperature": 0, "max_tokens": 400},
        "preflight": "off",
        "reuse": False,
    }
    return carry_run(study, actor, answer, RunPlan(**plan | chosen))
