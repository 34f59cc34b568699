import json
import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.answers.actions import NotPairs, mark_learned, question_ids
from annotation.answers.models import System
from annotation.management.environment import study_of
from benchmark.distillation.actions import (
    AdapterRecipe,
    TrainingRefused,
    differences,
    read_pairs,
    train,
    write_answers,
)
from benchmark.distillation.reports import bare_requests
from cqa_site.files.actions.imports import ImportRefused, import_path
from cqa_site.judging import packages
from cqa_site.judging.training import RecipeError
from cqa_site.people.models import Study


class Command(BaseCommand):
    help = (
        "Train a LoRA adapter on question-answer pairs (chat messages in JSON Lines, as exported "
        "on the page Training data) for a causal language model, given by its folder or name. "
        "With --study, the tuned model becomes a system of that study. With --answers, it also "
        "answers that number of the study's questions."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("pairs", type=Path, help="train.jsonl")
        parser.add_argument("--model", required=True, help="folder or name of the base model")
        parser.add_argument("--out", type=Path, required=True, help="folder for the adapter")
        parser.add_argument("--validation", type=Path, help="validation.jsonl")
        AdapterRecipe.add_options(parser)
        parser.add_argument("--study", help="name or id of the study that gets the system")
        parser.add_argument("--system", default="", help="name of the system; default: --out")
        parser.add_argument(
            "--served-as", default="", help="model name under which an endpoint will serve it"
        )
        parser.add_argument("--answers", type=int, default=0, help="number of questions")
        parser.add_argument("--most-tokens", type=int, default=700, help="per answer")

    def handle(self, *args: Any, **options: Any) -> None:
        needed = packages.state(packages.PackagePart.LANGUAGE)
        if not needed.is_there:
            raise CommandError(str(needed))
        for path in filter(None, (options["pairs"], options["validation"])):
            if not path.is_file():
                raise CommandError(f"{path} is not a file.")
        study = study_of(self, options) if options["study"] else None
        if options["answers"] and study is None:
            raise CommandError("--answers needs --study, which has the questions.")
        if options["out"].exists() and any(options["out"].iterdir()):
            raise CommandError(f"{options['out']} is not empty.")
        try:
            recipe = AdapterRecipe.stored(options)
            pairs = read_pairs(options["pairs"])
            held = read_pairs(options["validation"]) if options["validation"] else []
            options["out"].mkdir(parents=True, exist_ok=True)
            trained = train(
                pairs,
                model=options["model"],
                out=options["out"],
                recipe=recipe,
                validation=held,
                say=self.stdout.write,
            )
            counts = "Trained on {pairs} pairs, {pairs_cut} of them truncated."
            self.stdout.write(counts.format_map(trained))
            for difference in differences(recipe):
                self.stdout.write(f"Unlike the paper: {difference}.")
            self.stdout.write(f"The adapter is in {options['out']}.")
            if study is not None:
                self._add_system(study, options)
        except (RecipeError, TrainingRefused, ImportRefused) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _add_system(self, study: Study, options: dict[str, Any]) -> None:
        """Add the fine-tuned model as a system and generate its answers."""
        name = options["system"] or options["out"].name
        model = f"{options['model']} + {options['out'].name}"
        system, is_new = System.objects.get_or_create(
            study=study,
            name=name,
            defaults={"kind": System.Kind.MODEL, "model": (options["served_as"] or model)[:200]},
        )
        self.stdout.write(f"System {system.name}: {'created' if is_new else 'already existed'}.")
        self._mark(system, options)
        if not options["answers"]:
            return
        learned = study.questions.filter(comparison__in=system.learned.values("comparison"))
        open_ones = study.questions.exclude(pk__in=learned.values("pk"))
        questions = list(open_ones.select_related("comparison")[: options["answers"]])
        if left_out := learned.count():
            self.stdout.write(
                f"Questions left out because the system was trained on them: {left_out}."
            )
        if not questions:
            return
        texts = write_answers(
            bare_requests(study, questions),
            model=options["model"],
            adapter=options["out"],
            most_tokens=options["most_tokens"],
        )
        entries = [
            {
                "object1": question.comparison.object1,
                "object2": question.comparison.object2,
                "aspect": question.aspect,
                "comparison": text,
            }
            for question, text in zip(questions, texts, strict=True)
        ]
        outcome = self._import(study, system, entries)
        self.stdout.write(f"Answers: {outcome.counts['answers']['new']} new.")

    def _mark(self, system: System, options: dict[str, Any]) -> None:
        """Exclude the training and validation data from tests of the system in this study."""
        for path in filter(None, (options["pairs"], options["validation"])):
            try:
                with path.open(encoding="utf-8") as lines:
                    questions = question_ids(lines, path.name)
                new = mark_learned(
                    system=system, questions=questions, source=path.name, actor=None
                )
            except NotPairs as reason:
                self.stderr.write(f"{reason} Tests can include questions it was trained on.")
            else:
                self.stdout.write(
                    f"{path.name}: {new} pairs of objects are excluded from tests of the system."
                )

    def _import(self, study: Study, system: System, entries: list[dict[str, str]]):
        """Import the answers in the same way as any other file of answers."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answers.json"
            path.write_text(json.dumps(entries, ensure_ascii=False), encoding="utf-8")
            return import_path(
                study=study,
                kind="answers",
                path=path,
                name=f"{system.name}.json",
                options={"system": system.name, "scenario": 1},
                write=True,
                leave_out_rejected=True,
            )
