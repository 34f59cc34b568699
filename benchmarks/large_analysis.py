"""Key point analysis of very many comments, end to end: import, analysis, pages, and sampling.

    python -m benchmarks.large_analysis
    python -m benchmarks.large_analysis --comments 2000 --workers 1 --exact 0
    python -m benchmarks.large_analysis --workers 0 --exact 0 --explain
    python -m benchmarks.large_analysis --postgres postgres://postgres@127.0.0.1:5432/postgres

The site has its own folder and database, which are deleted afterwards. Its comments are invented
and have one topic (the largest world of `benchmarks.comments`), an id, a date and three further
columns; most statements occur once. The file is imported by the command, workers are started as
`manage.py site` does, and the analysis is requested on the dataset's page, without cached results
of an earlier analysis. Then every page is requested through the whole site: the median of five
requests after a first one. ``--workers 0`` needs no model and saves several minutes: statements
are placed under their themes, to measure only import and pages.

``--exact N`` groups N statements in two ways: by the method for large datasets, where a sample is
grouped and the other statements join it, and all at once.

Seconds are wall-clock time, CPU is processor time; memory is the peak of the process.
"""

import argparse
import contextlib
import json
import shutil
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

from benchmarks.databases import SERVER, postgres_database
from benchmarks.judging_site import end
from benchmarks.label_round_server import LabelRoundServer, collected_files, migrated_file
from benchmarks.large_texts import write_texts

PAGE_HEAD = f"{'page':<34}{'ms':>7}{'CPU ms':>8}{'queries':>9}{'kB':>8}"
STEP_HEAD = f"{'step':<34}{'s':>9}{'CPU s':>9}{'MiB':>7}  what came of it"
# A page above either limit is marked.
MOST_MS, MOST_BYTES = 300, 200_000


class LargeSite(LabelRoundServer):
    """An empty site; every step runs in its own process."""

    @property
    def environment(self) -> dict[str, str]:
        """Settings of the site, without Celery's warning about the user who started it."""
        return super().environment | {"PYTHONWARNINGS": "ignore"}

    def prepare(self) -> None:
        """Migrate the database and create a study with a researcher."""
        if self.database_url:
            self.python("manage.py", "migrate", "--noinput", "-v0")
        else:
            shutil.copy(migrated_file(), self.folder / "site.sqlite3")
        (self.folder / "static").symlink_to(collected_files(self.settings))
        self.python("manage.py", "createcachetable")
        self.step("prepare")

    def step(self, name: str, **values: Any) -> Any:
        """Return the result of a step of `benchmarks.large_steps`."""
        counted = {"DJANGO_SETTINGS_MODULE": "benchmarks.counted_settings"}
        printed = self.python(
            "-m",
            "benchmarks.large_steps",
            name,
            json.dumps(values),
            **counted | {"ALLOWED_HOSTS": "testserver"},
        )
        return json.loads(printed.splitlines()[-1])

    @contextlib.contextmanager
    def running(self, number: int) -> Iterator[list[int]]:
        """Yield the process ids of ``number`` workers and kill them at the end of the block."""
        started: list[subprocess.Popen] = []
        try:
            started.extend(self.start_worker() for _each in range(number))
            yield [each.pid for each in started]
        finally:
            for each in started:
                end(each, signal.SIGKILL)


def show(step: str, found: dict, said: str) -> None:
    """Print a line of the table of steps."""
    print(
        f"{step:<34}{found['seconds']:>9.1f}{found['cpu']:>9.1f}{found['mib']:>7.0f}  {said}",
        flush=True,
    )


def measure_site(site: LargeSite, texts: dict, workers: list[int], *, explain: bool) -> None:
    """Measure the import, one analysis per number of workers, and the last one's pages."""
    site.prepare()
    for step in ("import", "same file again"):
        found = site.step("bring", path=texts["path"])
        show(step, found, found["said"])
    for number in workers:
        analyse(site, number, texts)
    found = site.step("count")
    show("counts of groups and periods", found, f"{found['points']} key points")
    print(f"\n{PAGE_HEAD}")
    for name, ms, cpu, queries, size, plans in site.step("pages", explain=explain):
        mark = "  over" if ms > MOST_MS or size > MOST_BYTES else ""
        print(f"{name:<34}{ms:>7.0f}{cpu:>8.0f}{queries:>9}{size / 1000:>8.1f}{mark}")
        for line in plans:
            print(f"    {line}")
    print(flush=True)


def analyse(site: LargeSite, number: int, texts: dict) -> None:
    """Measure an analysis with ``number`` workers; without any, place statements by theme."""
    if not number:
        found = site.step("place", themes=texts["themes"])
        show("placed and counted", found, found["said"])
        return
    shutil.rmtree(site.folder / "scores", ignore_errors=True)
    with site.running(number) as pids:
        found = site.step("analyse", workers=pids, themes=texts["themes"])
    for place, each in enumerate(found["workers"], start=1):
        said = found["said"] if place == 1 else ""
        each["seconds"] = found["seconds"]
        show(f"analysis, worker {place} of {number}", each, said)


def compare_ways(site: LargeSite, texts: dict, number: int) -> None:
    """Group the same statements both ways, by sample and all at once, and compare the results."""
    found = site.step("read", number=number, themes=texts["themes"])
    show(f"{found['statements']:,} statements read", found, "")
    indices = {}
    for way, most in (("a sample grouped, the rest joins", 0), ("all grouped at once", number)):
        found = site.step("group", most=most)
        indices[way] = found["known"]
        said = f"{found['points']} key points, {found['placed']:.1%} placed, "
        show(way, found, f"{said}ARI with the themes {found['known']:.3f}")
    one, other = indices.values()
    print(f"ARI of both with each other {found['other']:.3f}; difference {one - other:+.3f}")


def main() -> None:
    """Measure each database, then the two grouping methods."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--comments", type=int, default=100_000)
    parser.add_argument("--workers", default="1,2", help="numbers of them; 0 for without a model")
    parser.add_argument("--exact", type=int, default=10_000, metavar="N", help="0 for not at all")
    parser.add_argument(
        "--postgres", nargs="?", const=SERVER, metavar="URL", help="a server to measure on as well"
    )
    parser.add_argument("--explain", action="store_true", help="plans of slow queries")
    given = parser.parse_args()
    workers = [int(each) for each in given.workers.split(",")]
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _interrupt)
    with contextlib.ExitStack() as stack:
        first = _site(stack, "")
        texts = write_texts(first.folder, given.comments)
        print(f"{texts['said']}\n\nSQLite\n{STEP_HEAD}", flush=True)
        measure_site(first, texts, workers, explain=given.explain)
        if given.postgres:
            print(f"PostgreSQL\n{STEP_HEAD}", flush=True)
            url = stack.enter_context(postgres_database(server=given.postgres))
            measure_site(_site(stack, url), texts, workers, explain=given.explain)
        if given.exact:
            print(STEP_HEAD, flush=True)
            compare_ways(first, texts, given.exact)


def _site(stack: contextlib.ExitStack, url: str) -> LargeSite:
    site = LargeSite(database_url=url)
    stack.callback(site.remove)
    return site


def _interrupt(*_args: Any) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
