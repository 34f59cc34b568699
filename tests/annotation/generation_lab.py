"""A study with questions, arguments and labels, and a scripted endpoint that writes answers."""

from annotation.consensus.models import FinalLabel
from annotation.corpus.models import Argument, Comparison, Question
from annotation.labelling.models import LabelRound
from cqa_site.people.models import Role, Study, User
from cqa_site.runs.actions.runs import RunPlan, start_run
from cqa_site.runs.models import Endpoint, Run
from cqa_site.tabular.cells import text_key
from tests.annotation.made_generations import plan_of, scenario
from tests.cast import make_guideline, make_member, make_study
from tests.runs.made_runs import make_endpoint


class GenerationLab:
    """Some comparisons with one question each, 8 labelled arguments for every comparison."""

    def __init__(self, questions: int = 4, arguments: int = 8) -> None:
        self.study: Study = make_study()
        self.researcher: User = make_member(self.study, Role.RESEARCHER)
        self.endpoint: Endpoint = make_endpoint(self.study, self.researcher)
        self.labels = LabelRound.objects.create(
            study=self.study, name="Labels", guideline=make_guideline(self.study)
        )
        pairs = Comparison.objects.bulk_create(
            Comparison(study=self.study, object1=f"thing {n}", object2=f"other {n}")
            for n in range(questions)
        )
        self.questions = Question.objects.bulk_create(
            Question(study=self.study, comparison=pair) for pair in pairs
        )
        self._argue(pairs, arguments)

    def _argue(self, pairs: list[Comparison], count: int) -> None:
        texts = [
            (pair, f"The {pair.object1} is faster than the {pair.object2} in case {n}.")
            for pair in pairs
            for n in range(count)
        ]
        rows = Argument.objects.bulk_create(
            Argument(study=self.study, comparison=pair, text=text, text_sha256=text_key(text))
            for pair, text in texts
        )
        FinalLabel.objects.bulk_create(
            FinalLabel(label_round=self.labels, argument=row, label=place % 4)
            for place, row in enumerate(rows)
        )

    def prompt(self, number: int):
        return scenario(self.study, number)

    def plan(self, **chosen) -> RunPlan:
        return plan_of(self.study, chosen.pop("endpoint", self.endpoint), **chosen)

    def start(self, **chosen) -> Run:
        """Start a run; with jobs inline it is over when the transaction's hooks ran."""
        return start_run(study=self.study, actor=self.researcher, plan=self.plan(**chosen))
