"""Time of searches in a corpus of 100,000 sentences, and the cost of loading and deleting it.

    python -m benchmarks.corpus_search
    python -m benchmarks.corpus_search --sentences 20000
    python -m benchmarks.corpus_search --postgres

The sentences are invented: about 20 words each, from a vocabulary whose n-th word is 1/n as
frequent as the first, as in real text, plus two names in every sentence. The database also has a
second corpus of the same size. Everything goes through the functions that the pages use; the
database is created for the run.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VOCABULARY = 30_000
REPEATS = 20
FRAMES = (
    "{a} is {adjective} than {b}",
    "{a} beats {b}",
    "we had {a} and then {b}",
    "{b} or {a}",
    "some say {a} costs more than {b}",
)
ADJECTIVES = ("better", "cheaper", "faster", "quieter", "safer", "older")
# Name, share of sentences that contain it, and the search text for the other object.
NAMES = (("common", 0.5), ("usual", 0.1), ("rare", 0.001), ("New Town", 0.05))


def start(folder: str, url: str | None) -> None:
    """Load the site with its data in ``folder``, or in the database at ``url``."""
    os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    os.environ |= {"LOG_LEVEL": "ERROR", "JOBS_INLINE": "true"}
    if url:
        os.environ["DATABASE_URL"] = url
    sys.path.insert(0, str(ROOT))
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, run_syncdb=True)


def sentences(count: int, seed: int):
    """Yield the lines of a text file."""
    chance = random.Random(seed)
    words = [f"w{n}" for n in range(VOCABULARY)]
    weights = list(accumulate(1 / (n + 1) for n in range(VOCABULARY)))
    for n in range(count):
        a, b = (name_by_share(chance) for _ in "ab")
        frame = chance.choice(FRAMES).format(a=a, b=b, adjective=chance.choice(ADJECTIVES))
        filling = " ".join(chance.choices(words, cum_weights=weights, k=16))
        yield f"{frame}, {filling} {n}.\n".encode()


def name_by_share(chance: random.Random) -> str:
    drawn = chance.random()
    for name, share in NAMES:
        if drawn < share:
            return name
        drawn -= share
    return f"thing{chance.randrange(5_000)}"


def timed(label: str, work) -> float:
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    print(f"{label:<44} {took:8.2f} s")
    return took


def load(count: int) -> list:
    """Load two corpora by upload, dry run and import."""
    from annotation.retrieval.actions import corpora
    from annotation.retrieval.models import Corpus
    from cqa_site.people.models import Study
    from cqa_site.runs import jobs

    study = Study.objects.create(name="Benchmark")
    for seed, name in enumerate(("searched", "beside it")):
        add = {"study": study, "name": name, "file_name": "x.txt", "actor": None}
        timed(
            f"{name}: upload and dry run",
            lambda add=add, seed=seed: (
                corpora.add_corpus(chunks=sentences(count, seed), **add),
                jobs.drain(600),
            ),
        )
        corpus = Corpus.objects.select_related("study").get(name=name)
        took = timed(
            f"{name}: load",
            lambda corpus=corpus: (
                corpora.request_load(corpus=corpus, actor=None),
                jobs.drain(600),
            ),
        )
        corpus.refresh_from_db()
        print(f"{'':<44} {corpus.sentence_count:,} sentences, {count / took:,.0f} a second")
    return [Corpus.objects.get(name="searched")]


def measure(corpora: list) -> float:
    """Print the cost of each kind of search; return the slowest median in milliseconds."""
    from annotation.retrieval.actions.arguments import search
    from annotation.retrieval.methods.corpus import build_query

    asked = {
        "two rare names": ("rare", "thing7"),
        "rare and common": ("rare", "common"),
        "usual and common": ("usual", "common"),
        "common and the most frequent word": ("common", "w0"),
        "common twice, told apart by signs": ("common", "common+"),
        "a name of two words": ("New Town", "usual"),
    }
    slowest = 0.0
    print(f"\n{'search':<44} {'found':>6} {'median ms':>10} {'slowest':>9}")
    for label, (one, two) in asked.items():
        for options in ({}, {"aspect": "w40 w41"}, {"any_word": True}):
            query = build_query(one, two, **options)
            found, times = [], []
            for _ in range(REPEATS):
                began = time.perf_counter()
                found = search(corpora, query, 50)
                times.append(1000 * (time.perf_counter() - began))
            shown = label + "".join(f", {name}" for name in options)
            middle = statistics.median(times)
            print(f"{shown:<44} {len(found):>6} {middle:>10.1f} {max(times):>9.1f}")
            slowest = max(slowest, middle)
    return slowest


def delete(corpus) -> None:
    from annotation.retrieval.actions import corpora
    from cqa_site.runs import jobs

    print()
    timed(
        "delete one corpus",
        lambda: (corpora.request_deletion(corpus=corpus, actor=None), jobs.drain(600)),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        url = None
        if asked.postgres:
            from benchmarks.databases import postgres_database

            url = stack.enter_context(postgres_database())
        start(folder, url)
        corpora = load(asked.sentences)
        slowest = measure(corpora)
        delete(corpora[0])
        print(f"\nslowest median {slowest:.1f} ms; promised: 200 ms")
        from django.db import connections

        connections.close_all()
    return int(slowest > 200)


if __name__ == "__main__":
    sys.exit(main())
