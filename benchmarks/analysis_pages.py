"""Pages of a key point analysis of many comments: milliseconds, queries and kB of each.

    python -m benchmarks.analysis_pages
    python -m benchmarks.analysis_pages --comments 10000 --explain

Invented comments of one topic, some of two statements, in six towns over two years; 60 key points,
the largest with a quarter of the statements; a tenth fits none. They are written directly into a
temporary database. Each page is asked through the whole site with its middleware: the median of
five requests after one.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

REPEATS = 5
PIECE = 5_000
POINTS = 60
TOWNS = ("Altdorf", "Neudorf", "Seeheim", "Bergen", "Talstadt", "Waldau")
WORDS = [
    *("library", "hall", "quiet", "books", "late", "parking", "staff", "friendly", "catalogue"),
    *("slow", "evening", "children", "noisy", "light", "chairs", "printer", "broken", "coffee"),
    *("prices", "website", "search", "opening", "hours", "toilet", "clean", "entrance"),
]
MOST_MS, MOST_BYTES = 300, 200_000
# Seconds of a query whose plan is worth a look.
SLOW = 0.02
HEAD = f"{'page':<34}{'ms':>7}{'queries':>9}{'kB':>8}"


def start(folder: str) -> None:
    """Load the site with its data in ``folder``; `benchmarks.databases` is not needed."""
    os.environ |= {"DATA_DIR": folder, "STATIC_ROOT": f"{folder}/static", "JOBS_INLINE": "false"}
    os.environ |= {"LOG_LEVEL": "ERROR", "ALLOWED_HOSTS": "testserver"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.counted_settings"
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/benchmark.sqlite3")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def make_comments(cell: Any, number: int, rng: random.Random) -> None:
    """Comments with one statement or two; every statement is another text."""
    from argsum.datasets.models import CellArgument, Comment, CommentStatement

    count = 0
    for begin in range(0, number, PIECE):
        size = min(PIECE, number - begin)
        comments, arguments, links = [], [], []
        for place in range(begin, begin + size):
            texts = []
            for _sentence in range(1 + (rng.random() < 0.3)):
                count += 1
                texts.append(f"The {' '.join(rng.choices(WORDS, k=12))} number {count}.")
                arguments.append(
                    CellArgument(cell=cell, position=count, text=texts[-1], sha256=f"{count:064d}")
                )
                links.append((place - begin, len(texts)))
            comments.append(
                Comment(
                    cell=cell,
                    position=place + 1,
                    key=str(place),
                    text=" ".join(texts),
                    attributes={"town": rng.choice(TOWNS), "age": str(rng.randrange(18, 80))},
                    written_on=date(2024, 1, 1) + timedelta(days=rng.randrange(730)),
                )
            )
        Comment.objects.bulk_create(comments)
        CellArgument.objects.bulk_create(arguments)
        CommentStatement.objects.bulk_create(
            CommentStatement(comment=comments[row], argument=argument, position=position)
            for (row, position), argument in zip(links, arguments, strict=True)
        )


def make_analysis(study: Any, cell: Any, rng: random.Random) -> Any:
    """Key points of falling size with their statements, counted as the site does."""
    from argsum.analysis.actions.counting import count_analysis, count_points
    from argsum.analysis.actions.making import bulk_place
    from argsum.analysis.models import Analysis, FoundPoint, Placement
    from argsum.scorers.actions.scorers import default_scorers

    match, quality = default_scorers(study)
    analysis = Analysis.objects.create(
        study=study,
        number=study.analyses.count() + 1,
        name=cell.topic,
        cell=cell,
        match_scorer=match,
        quality_scorer=quality,
        state=Analysis.State.DONE,
        choice={"setting": "0.5", "rule": "first", "tried": []},
    )
    texts = [f"The {' '.join(rng.choices(WORDS, k=9))} is point {n}." for n in range(POINTS)]
    points = FoundPoint.objects.bulk_create(
        FoundPoint(analysis=analysis, position=n + 1, text=text, written=text)
        for n, text in enumerate(texts)
    )
    weights = [1 / (n + 1) for n in range(POINTS)]
    keys = list(cell.arguments.order_by("position").values_list("pk", flat=True))
    chosen = rng.choices([*points, None], [*weights, sum(weights) / 9], k=len(keys))
    bulk_place(
        Placement(analysis=analysis, argument_id=key, point=point, score=rng.random())
        for key, point in zip(keys, chosen, strict=True)
    )
    count_points(analysis)
    count_analysis(analysis)
    analysis.save()
    return analysis


def pages(study: Any, analysis: Any) -> Iterator[tuple[str, str]]:
    """Name and address of each page that is measured."""
    from django.urls import reverse

    sid, aid = study.public_id, analysis.public_id
    largest = analysis.points.order_by("-comments").first()
    point = reverse("found_point", args=[sid, aid, largest.public_id])
    one, rest = reverse("analysis", args=[sid, aid]), reverse("analysis_rest", args=[sid, aid])
    last = -(-largest.statements // 50)
    asked = {
        "town": urlencode({"group": '["town", "Bergen"]'}),
        "dates": "first=2024-03-01&last=2024-06-30",
        "words": "q=parking",
        "one statement": "q=number+777.",
    }
    yield "analyses", reverse("analyses", args=[sid])
    yield "analysis", one
    for name, query in asked.items():
        yield f"analysis, {name}", f"{one}?{query}"
    yield "key point", point
    yield "key point, last page", f"{point}?page={last}"
    for name, query in asked.items():
        yield f"key point, {name}", f"{point}?{query}"
    yield "fits none", rest
    yield "history", reverse("analysis_history", args=[sid, aid])


def measure(client: Any, address: str) -> tuple[float, int, int]:
    """Median milliseconds, queries and bytes of a page."""
    from benchmarks.counted_settings import HEADER

    response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)
    times = []
    for _time in range(REPEATS):
        begun = time.perf_counter()
        client.get(address)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times), int(response[HEADER]), len(response.content)


def explain(client: Any, address: str) -> None:
    """Print the plan of every query of a page that takes more than 20 ms."""
    from django.db import connection

    slow = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        begun = time.perf_counter()
        found = execute(sql, params, many, context)
        seconds = time.perf_counter() - begun
        if seconds > SLOW:
            slow.append((seconds, sql, params))
        return found

    with connection.execute_wrapper(note):
        client.get(address)
    for seconds, sql, params in slow:
        print(f"    {seconds:.3f} s  {sql[:1500]}")
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN QUERY PLAN " + sql, params)
            for row in cursor.fetchall():
                print("      ", row[-1])


def main() -> None:
    """Make the data, ask the pages, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--comments", type=int, default=100_000)
    parser.add_argument("--explain", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start(folder)
        from django.test import Client

        from argsum.datasets.models import Cell, Dataset
        from cqa_site.people.models import Membership, Role, Study, User

        rng = random.Random(7)
        study = Study.objects.create(name="Many comments")
        boss = User.objects.create_user("boss@example.org", "a long password")
        Membership.objects.create(study=study, user=boss, role=Role.RESEARCHER)
        dataset = Dataset.objects.create(study=study, name="Comments")
        cell = Cell.objects.create(dataset=dataset, topic="The library", stance=0, position=1)
        begun = time.perf_counter()
        make_comments(cell, given.comments, rng)
        made = time.perf_counter()
        analysis = make_analysis(study, cell, rng)
        print(
            f"{analysis.comments:,} comments, {analysis.statements:,} statements: written in "
            f"{made - begun:.1f} s, placed and counted in {time.perf_counter() - made:.1f} s"
        )
        client = Client()
        client.force_login(boss, backend="allauth.account.auth_backends.AuthenticationBackend")
        print(HEAD)
        for name, address in pages(study, analysis):
            ms, queries, size = measure(client, address)
            mark = "  over" if ms > MOST_MS or size > MOST_BYTES else ""
            print(f"{name:<34}{ms:>7.0f}{queries:>9}{size / 1000:>8.1f}{mark}")
            if given.explain:
                explain(client, address)


if __name__ == "__main__":
    main()
