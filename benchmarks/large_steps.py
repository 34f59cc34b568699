"""Steps of the benchmark of very many comments; each prints a line of JSON.

    python -m benchmarks.large_steps STEP ARGUMENTS

`benchmarks.large_analysis` runs each step in its own process, to measure its memory separately.
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from benchmarks.judging_meter import cpu_seconds, has_ended, highest_mib

DATASET, EMAIL = "Comments", "boss@example.org"
POLL = 1.0
# A worker without a heartbeat after this time is considered dead.
LONGEST_START = 300


class Measured:
    """Seconds, processor seconds and memory of the block."""

    def __enter__(self) -> "Measured":
        self.began, self.used = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_args: object) -> None:
        self.found = {
            "seconds": time.perf_counter() - self.began,
            "cpu": time.process_time() - self.used,
            "mib": highest_mib(),
        }


def prepare() -> dict[str, Any]:
    """Create a study with a researcher."""
    from cqa_site.people.models import Membership, Role, Study, User

    study = Study.objects.create(name="Very many comments")
    boss = User.objects.create_user(EMAIL, "a long password")
    Membership.objects.create(study=study, user=boss, role=Role.RESEARCHER)
    return {}


def bring(path: str) -> dict[str, Any]:
    """Import the file with the command, which first checks the file and then writes the data."""
    from django.core.management import call_command

    from argsum.datasets.models import CellArgument, Comment
    from cqa_site.people.models import Study

    shown = StringIO()
    with Measured() as measured:
        call_command(
            "import_comments",
            path,
            study=str(Study.objects.get().public_id),
            dataset=DATASET,
            topic="The app",
            stdout=shown,
        )
    comments, statements = Comment.objects.count(), CellArgument.objects.count()
    return measured.found | {"said": f"{comments:,} comments, {statements:,} different statements"}


def place(themes: str) -> dict[str, Any]:
    """Create an analysis whose key points are the themes, each with its own statements."""
    from argsum.analysis.actions.analyses import count_analysis, count_points, statements_of
    from argsum.analysis.actions.jobs import keep_placements
    from argsum.analysis.models import Analysis, FoundPoint
    from argsum.scorers.actions.scorers import default_scorers

    study, cell = _study_and_cell()
    match, quality = default_scorers(study)
    known = _themes(themes)
    analysis = Analysis.objects.create(
        study=study,
        number=1,
        name=cell.topic,
        cell=cell,
        match_scorer=match,
        quality_scorer=quality,
        state=Analysis.State.DONE,
    )
    rows = list(statements_of(cell).values_list("pk", "text"))
    with Measured() as measured:
        names = sorted({theme for theme in known.values() if theme})
        points = FoundPoint.objects.bulk_create(
            FoundPoint(
                analysis=analysis,
                position=number,
                text=name,
                written=name,
                # All titles of an aspect start with the same word.
                theme=name.split()[0],
            )
            for number, name in enumerate(names, start=1)
        )
        own = dict(zip(names, points, strict=True))
        at = [own.get(known.get(text) or "") for _key, text in rows]
        keep_placements(
            analysis,
            (
                (key, point and point.pk, len(text) % 100 / 100, len(text) % 3 == 0)
                for (key, text), point in zip(rows, at, strict=True)
            ),
        )
        count_analysis(analysis)
        count_points(analysis)
        analysis.save()
    return measured.found | {"said": _said(analysis, known)}


def analyse(workers: Sequence[int], themes: str) -> dict[str, Any]:
    """Request an analysis on the dataset's page and poll its state until it is done."""
    from django.urls import reverse

    from argsum.analysis.actions.analyses import delete_analysis
    from argsum.analysis.models import Analysis

    study, cell = _study_and_cell()
    client, boss = client_of()
    for earlier in study.analyses.all():
        delete_analysis(analysis=earlier, actor=boss)
    _wait_for(workers)
    before = [cpu_seconds(pid) for pid in workers]
    client.post(reverse("analysis_dataset", args=[study.public_id, cell.dataset.public_id]))
    analysis = study.analyses.get()
    state = reverse("analysis_state", args=[study.public_id, analysis.public_id])
    while "HX-Refresh" not in client.get(state):
        if ended := [pid for pid in workers if has_ended(pid)]:
            raise RuntimeError(f"worker {ended} ended")
        time.sleep(POLL)
    found = [
        {"cpu": cpu_seconds(pid) - used, "mib": highest_mib(pid)}
        for pid, used in zip(workers, before, strict=True)
    ]
    analysis.refresh_from_db()
    if analysis.state != Analysis.State.DONE or analysis.done_at is None:
        raise RuntimeError(f"the analysis is {analysis.state}: {analysis.error}")
    seconds = (analysis.done_at - analysis.created_at).total_seconds()
    said = f"{_said(analysis, _themes(themes))}"
    return {"workers": found, "seconds": seconds, "said": said}


def count() -> dict[str, Any]:
    """Compute the counts for the pages of groups and periods and for the report."""
    from argsum.analysis.reports.counts import counted

    study, _cell = _study_and_cell()
    with Measured() as measured:
        found = counted(study.analyses.get())
    return measured.found | {"points": len(found.points)}


def pages(explain: bool) -> list[Any]:
    """Measure all pages of `benchmarks.large_pages`."""
    from benchmarks.large_pages import addresses, measure, plans_of

    study, _cell = _study_and_cell()
    client, _boss = client_of()
    found = []
    for name, address in addresses(study.analyses.get()):
        plans = plans_of(client, address) if explain else []
        found.append((name, *measure(client, address), plans))
    return found


def read(number: int, themes: str) -> dict[str, Any]:
    """Store the vectors of ``number`` distinct statements."""
    import numpy as np

    from benchmarks.key_points import ShippedTools

    known = _themes(themes)
    texts = list(known)[:number]
    with Measured() as measured:
        vectors = ShippedTools().vectors(texts)
    np.save(_folder() / "vectors.npy", vectors)
    (_folder() / "texts.json").write_text(json.dumps([[text, known[text]] for text in texts]))
    return measured.found | {"statements": len(texts)}


def group(most: int) -> dict[str, Any]:
    """Group the stored statements; at most ``most`` are compared with each other (0: default)."""
    from argsum.analysis.methods import key_points, statements as grouping
    from argsum.scorers.methods.figures import adjusted_rand

    pairs = json.loads((_folder() / "texts.json").read_text())
    texts, themes = [text for text, _theme in pairs], [theme for _text, theme in pairs]
    if most:
        key_points.MOST_COMPARED = grouping.MOST_COMPARED = most
    with Measured() as measured:
        found = key_points.find_points(texts, KeptTools(_folder()))
    kept = _folder() / "placed.json"
    before = json.loads(kept.read_text()) if kept.exists() else found.placed
    kept.write_text(json.dumps(found.placed))
    rows = [row for row, theme in enumerate(themes) if theme]
    known = adjusted_rand([themes[row] for row in rows], [found.placed[row] for row in rows])
    return measured.found | {
        "points": len(found.points),
        "placed": sum(each >= 0 for each in found.placed) / len(texts),
        "known": known,
        "other": adjusted_rand(before, found.placed),
    }


class KeptTools:
    """Tools for grouping that use stored vectors and no quality scores."""

    tells_sides = True
    encoder_name = "shipped"
    sure_from = 0.7

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self.kept = np.load(folder / "vectors.npy")

    def vectors(self, _texts: Sequence[str]) -> Any:
        """Return the vectors of all statements."""
        return self.kept

    def filler(self, texts: Sequence[str]) -> Any:
        """Mark no text as filler, so that all texts are grouped."""
        import numpy as np

        return np.zeros(len(texts), dtype=bool)

    def quality(self, texts: Sequence[str]) -> Any:
        """Return unknown qualities, which do not affect the grouping."""
        import numpy as np

        return np.full(len(texts), np.nan, dtype=np.float32)

    def say(self, share: float, what: str, until: float | None = None) -> None:
        """Ignore progress messages."""


def client_of() -> tuple[Any, Any]:
    """Return a client that is signed in as the researcher, and the researcher."""
    from django.test import Client

    from cqa_site.people.models import User

    client, boss = Client(), User.objects.get(email=EMAIL)
    client.force_login(boss, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client, boss


def _study_and_cell() -> tuple[Any, Any]:
    from argsum.datasets.models import Cell
    from cqa_site.people.models import Study

    return Study.objects.get(), Cell.objects.select_related("dataset").get()


def _themes(path: str) -> dict[str, str | None]:
    return json.loads(Path(path).read_text())["themes"]


def _folder() -> Path:
    return Path(os.environ["DATA_DIR"])


def _wait_for(workers: Sequence[int]) -> None:
    """Wait until every worker has looked for work once."""
    from cqa_site.runs.models import WorkerBeat

    until = time.monotonic() + LONGEST_START
    beats = WorkerBeat.objects.filter(process_id__in=workers).values("process_id").distinct()
    while beats.count() < len(workers):
        if time.monotonic() > until or any(map(has_ended, workers)):
            raise RuntimeError("the workers do not start")
        time.sleep(POLL)


def _said(analysis: Any, known: dict[str, str | None]) -> str:
    """Return a line about the key points and their agreement with the themes."""
    from argsum.scorers.methods.figures import adjusted_rand

    rows = analysis.placements.order_by("argument").values_list("argument__text", "point")
    themed = [(known[text], point or 0) for text, point in rows if known.get(text)]
    index = adjusted_rand([theme for theme, _point in themed], [point for _theme, point in themed])
    share = analysis.placements.filter(point__isnull=False).count() / max(1, analysis.statements)
    number = analysis.points.count()
    return f"{number} key points, {share:.1%} placed, ARI with the themes {index or 0:.3f}"


STEPS = {
    each.__name__: each for each in (prepare, bring, place, analyse, count, pages, read, group)
}


def main() -> None:
    """Run one step."""
    import django

    django.setup()
    print(json.dumps(STEPS[sys.argv[1]](**json.loads(sys.argv[2]))))


if __name__ == "__main__":
    main()
