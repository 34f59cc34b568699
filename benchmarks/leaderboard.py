"""The leaderboard of many score sheets: time and memory to compute it, and time of the page.

    python -m benchmarks.leaderboard
    python -m benchmarks.leaderboard --systems 20 --questions 100 --without-database

The sheets are invented and seeded. "board" is the pure computation (cells, ranks, pairs, length,
spread). The other lines are the whole job on its own SQLite file, and the page that a signed-in
researcher gets from the stored snapshot, without the network.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

PAGES = 20
BATCH = 2_000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=50)
    parser.add_argument("--scenarios", type=int, default=4)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3, help="the fastest run counts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--without-database", action="store_true")
    return parser.parse_args()


def invented_points(options: argparse.Namespace, maxima: dict[str, int]) -> pd.DataFrame:
    """Return points of all answers; some systems and questions are better than others."""
    generator = np.random.default_rng(options.seed)
    shape = (options.systems, options.scenarios, options.questions)
    system, scenario, question = (each.ravel() for each in np.indices(shape))
    skill = 0.4 * generator.normal(size=options.systems)[system]
    worth = skill + generator.normal(size=options.questions)[question] + 0.1 * scenario
    rows = {"system": system, "scenario": scenario + 1, "question": question}
    for key, maximum in maxima.items():
        raw = (worth + generator.normal(size=len(worth)) + 1.5) * maximum / 3
        rows[key] = np.clip(np.round(raw), 0, maximum)
    return pd.DataFrame(rows).assign(characters=generator.integers(300, 2_500, len(worth)))


def as_sheets(points: pd.DataFrame, groups: dict[str, list[str]]) -> pd.DataFrame:
    """Return the table that the methods expect."""
    named = {
        "answer_id": pd.Series(points.index).map("answer-{:06}".format),
        "question_id": points["question"].map("question-{:04}".format),
        "system_id": points["system"].map("system-{:03}".format),
    }
    fixed = {"object1": "x", "object2": "y", "aspect": "", "system_kind": "model", "model": "m"}
    judge = {"rater_id": "judge", "rater_kind": "model", "rater_name": "Judge", "round": 0}
    table = points.assign(**named, **fixed, **judge, system=named["system_id"])
    for group, keys in groups.items():
        table[group] = table[keys].sum(axis=1)
    return table.assign(total=table[list(groups)].sum(axis=1))


def best_time(function, repeats: int) -> tuple[float, object]:
    times, found = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        found = function()
        times.append(time.perf_counter() - start)
    return min(times), found


def peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def say(name: str, seconds: float, note: str = "") -> None:
    print(f"{name:<42} {seconds:>9.3f} s   peak {peak_mib():>6.0f} MiB   {note}", flush=True)


def measure_methods(options: argparse.Namespace) -> pd.DataFrame:
    from benchmark.leaderboard.methods.board import make_board
    from benchmark.leaderboard.methods.options import BoardOptions
    from benchmark.rubrics.methods.rubric import COMPQA

    maxima = {each.key: each.maximum for each in COMPQA.criteria}
    groups = {each.key: [c.key for c in COMPQA.of_group(each.key)] for each in COMPQA.groups}
    points = invented_points(options, maxima)
    table = as_sheets(points, groups)
    parts = {each.key: each.maximum for each in COMPQA.groups} | maxima
    asked = BoardOptions(maximum=COMPQA.maximum, parts=parts)
    seconds, found = best_time(lambda: make_board(table, asked).as_dict(), options.repeats)
    pairs = len(found["rankings"][0]["pairs"]["mean"])
    say("board", seconds, f"{len(table):,} sheets, {pairs} pairs")
    return points


def measure_site(points: pd.DataFrame) -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    rubric, boss = fill(points)
    from benchmark.agreement.reports.agreement import compute
    from benchmark.leaderboard.actions import BOARDS
    from benchmark.leaderboard.reports import snapshot, snapshot as board_rows
    from benchmark.leaderboard.reports.snapshot import board_marker
    from cqa_site.results.snapshots import store_live

    seconds, (table, draws) = best_time(lambda: board_rows.board_table(rubric), 1)
    say("sheets read from the database", seconds, f"{len(table):,} rows")
    seconds, (rows, sha256) = best_time(lambda: board_rows.pack_rows(table), 1)
    say("rows packed", seconds, f"{len(rows) / 2**20:.1f} MiB")
    recipe = snapshot.recipe_of(rubric, table, draws) | {"sheets": len(table)}
    read_seconds, read = best_time(lambda: board_rows.read_rows(rows), 1)
    say("rows read back", read_seconds)
    seconds, board = best_time(lambda: snapshot.board_figures(read, recipe), 1)
    say("board from the rows", seconds)
    seconds, agreement = best_time(lambda: compute(read, rubric.rubric, recipe), 1)
    say("agreement from the rows", seconds)
    computed = made(rows, sha256, board_marker(rubric), recipe, board, agreement)
    seconds, _live = best_time(lambda: store_live(BOARDS, rubric, computed), 1)
    say("snapshot stored", seconds)
    measure_pages(rubric, boss)


def made(rows, sha256, marker, recipe, board, agreement):
    from cqa_site.results.snapshots import SnapshotContent

    return SnapshotContent(rows, sha256, marker, recipe, {"board": board, "agreement": agreement})


def fill(points: pd.DataFrame):
    """Fill a study with an answer and a judge's sheet for every row."""
    from benchmark.rubrics.models import default_rubric
    from tests.cast import make_member, make_study

    study = make_study("Benchmark")
    rubric = default_rubric(study)
    answers = fill_answers(study, points)
    fill_sheets(study, rubric, answers, points)
    return rubric, make_member(study, "researcher")


def fill_answers(study, points: pd.DataFrame) -> list:
    from annotation.answers.models import Answer, System
    from annotation.corpus.models import Comparison, Question
    from annotation.generation.actions.answer_runs import condition
    from cqa_site.tabular.cells import text_key

    comparison = Comparison.objects.create(study=study, object1="tea", object2="coffee")
    questions = Question.objects.bulk_create(
        Question(study=study, comparison=comparison, aspect=f"aspect {number}")
        for number in range(points["question"].max() + 1)
    )
    systems = System.objects.bulk_create(
        System(study=study, name=f"System {number:03}")
        for number in range(points["system"].max() + 1)
    )
    written_under = map(int, points["scenario"].unique())
    conditions = {each: condition(study, scenario=each) for each in written_under}
    columns = ["system", "scenario", "question", "characters"]
    rows = points[columns].itertuples(index=True, name=None)
    return Answer.objects.bulk_create(
        (
            Answer(
                study=study,
                question=questions[question],
                system=systems[system],
                scenario=scenario,
                condition=conditions[scenario],
                text="x" * characters,
                text_sha256=text_key(str(place)),
                source="invented.json",
                position=place,
            )
            for place, system, scenario, question, characters in rows
        ),
        batch_size=BATCH,
    )


def fill_sheets(study, rubric, answers: list, points: pd.DataFrame) -> None:
    from benchmark.scoring.models import ScoreSheet
    from cqa_site.people.models import Rater

    judge = Rater.objects.create(study=study, kind="model", name="Judge", external_id="judge")
    keys = list(rubric.rubric.keys)
    given = points[keys].to_dict("records")
    ScoreSheet.objects.bulk_create(
        (
            ScoreSheet(
                study=study,
                answer=answer,
                rubric=rubric,
                rater=judge,
                source="invented.csv",
                position=place,
                state="submitted",
                points=row,
                notes=dict.fromkeys(
                    keys, "A reason of about sixty characters, as judges give them."
                ),
                total=sum(row.values()),
                maximum=rubric.rubric.maximum,
            )
            for place, (answer, row) in enumerate(zip(answers, given, strict=True))
        ),
        batch_size=BATCH,
    )


def measure_pages(rubric, boss) -> None:
    from django.urls import reverse

    from tests.cast import sign_in

    client, study = sign_in(boss), rubric.study
    systems = rubric.snapshots.get().figures["board"]["systems"][:2]
    pair = "&".join(f"system={each['id']}" for each in systems)
    pages = {
        "page of the leaderboard": reverse("scores", args=[study.public_id]),
        "page of the snapshot": reverse("board", args=[study.public_id, 1]),
        "page of two systems": reverse("board_pair", args=[study.public_id, 1]) + f"?{pair}",
    }
    for name, address in pages.items():
        times = [page_seconds(client, address) for _ in range(PAGES + 1)][1:]
        walls, work = zip(*times, strict=True)
        note = f"median of {PAGES}; {statistics.median(work):.3f} s of processor"
        say(name, statistics.median(walls), f"{note}; slowest {max(walls):.3f} s")


def page_seconds(client, address: str) -> tuple[float, float]:
    """Return wall-clock and processor seconds, which differ on a busy machine."""
    start, work = time.perf_counter(), time.process_time()
    response = client.get(address)
    seconds = time.perf_counter() - start, time.process_time() - work
    if response.status_code != 200:
        sys.exit(f"{address}: {response.status_code}")
    return seconds


def main() -> None:
    options = parse_arguments()
    points = measure_methods(options)
    if options.without_database:
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{Path(folder) / 'benchmark.sqlite3'}"
        os.environ.setdefault("DATA_DIR", folder)
        os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
        import django

        django.setup()
        measure_site(points)


if __name__ == "__main__":
    main()
