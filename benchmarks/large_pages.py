"""Pages of an analysis of very many comments, with their milliseconds, queries and bytes."""

import statistics
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

REPEATS = 5
# Queries that take longer than this number of seconds are explained.
SLOW = 0.02
LONGEST_PLAN = 1_500
ASKED = {
    "a value": urlencode({"group": '["group", "plus account"]'}),
    "dates": "first=2024-03-01&last=2024-05-31",
    "a word": "q=login",
    "a rare word": "q=thumbprint",
    "all of it": urlencode({"group": '["group", "plus account"]', "q": "login"})
    + "&first=2024-03-01&last=2024-05-31",
}


def addresses(analysis: Any) -> Iterator[tuple[str, str]]:
    """Yield the name and URL of each page."""
    from django.urls import reverse

    from argsum.analysis.reports.points import PER_PAGE

    study, cell = analysis.study, analysis.cell
    sid, ids = study.public_id, [study.public_id, analysis.public_id]
    comments = reverse("cell_comments", args=[sid, cell.public_id])
    yield "dataset", reverse("dataset", args=[sid, cell.dataset.public_id])
    yield "statements of a topic", reverse("cell", args=[sid, cell.public_id])
    yield "comments on a topic", comments
    yield "comments, a word", f"{comments}?q=login"
    yield "analyses", reverse("analyses", args=[sid])
    one, rest = reverse("analysis", args=ids), reverse("analysis_rest", args=ids)
    largest = analysis.points.order_by("-statements").first()
    point = reverse("found_point", args=[*ids, largest.public_id])
    for name, address in (("analysis", one), ("key point", point)):
        yield name, address
        for asked, query in ASKED.items():
            yield f"{name}, {asked}", f"{address}?{query}"
    yield "key point, last page", f"{point}?page={-(-largest.statements // PER_PAGE)}"
    yield "fits none", rest
    yield "history", reverse("analysis_history", args=ids)
    yield "groups", reverse("analysis_groups", args=ids)
    yield "time", reverse("analysis_trends", args=ids)
    yield "report", reverse("analysis_report", args=ids)


def measure(client: Any, address: str) -> tuple[float, float, int, int]:
    """Return a page's median wall-clock and processor milliseconds, queries and bytes."""
    from benchmarks.counted_settings import HEADER

    response = client.get(address)
    assert response.status_code == 200, (address, response.status_code)
    times, used = [], []
    for _time in range(REPEATS):
        begun, worked = time.perf_counter(), time.process_time()
        response = client.get(address)
        times.append(1000 * (time.perf_counter() - begun))
        used.append(1000 * (time.process_time() - worked))
    queries, size = int(response[HEADER]), len(response.content)
    return statistics.median(times), statistics.median(used), queries, size


def plans_of(client: Any, address: str) -> list[str]:
    """Return all queries of a page that take more than 20 ms, with their plans."""
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
    explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    lines = []
    for seconds, sql, params in slow:
        lines.append(f"{seconds:.3f} s  {sql[:LONGEST_PLAN]}")
        with connection.cursor() as cursor:
            cursor.execute(explain + sql, params)
            lines.extend(f"    {row[-1]}" for row in cursor.fetchall())
    return lines
