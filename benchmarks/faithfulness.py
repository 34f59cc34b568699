"""Time to compute the faithfulness figures of the released machine answers.

    python benchmarks/faithfulness.py
    python benchmarks/faithfulness.py --data ../shared/data --threads 1 2

Words: all figures that need no embeddings, for the 336 answers, by mode. Embedding: distinct
sentences per second by number of torch threads (a worker of the site uses one), with the model
already loaded and the vectors stored in a database created for the run. Again: all figures of
all answers, with vectors read from that database.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODES = ("paper", "sound")


def start(folder: str) -> None:
    """Load the site with an empty database in ``folder``."""
    os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "cqa_site.settings"}
    os.environ |= {"LOG_LEVEL": "ERROR", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    sys.path.insert(0, str(ROOT))
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, run_syncdb=True)


def read_answers(folder: Path) -> list[tuple[str, dict[int, str], dict[int, int | None]]]:
    """Return text, arguments and labels of every answer."""
    from annotation.imports.methods.releases import (
        ReleasedComparison,
        ReleasedLabel,
        read_final_labels,
        read_silver,
    )

    known: dict = {}
    for each in read_final_labels(folder / "dataset_cqa_all_gpt.json"):
        if isinstance(each, ReleasedLabel) and each.unit:
            known.setdefault(each.unit, each.label)
    found = []
    for each in read_silver(folder / "silver_112x3.json"):
        if isinstance(each, ReleasedComparison):
            arguments = {argument.number: argument.text for argument in each.arguments}
            pair = (each.object1, each.object2)
            labels = {n: known.get((*pair, text)) for n, text in arguments.items()}
            found += [(text, arguments, labels) for text in each.texts]
    return found


def measure_words(answers: list, mode: str) -> float:
    from annotation.faithfulness.methods.faithfulness import measure, pool

    begin = time.perf_counter()
    pool(measure(*answer, mode=mode) for answer in answers)
    return time.perf_counter() - begin


def distinct_sentences(answers: list) -> list[str]:
    from annotation.faithfulness.methods.faithfulness import texts_to_embed

    return list(
        dict.fromkeys(
            sentence
            for text, arguments, _labels in answers
            for mode in MODES
            for sentence in texts_to_embed(text, arguments, mode=mode)
        )
    )


def embed(sentences: list[str], threads: int) -> float:
    """Return the seconds for encoding and storing the sentences once the model is loaded."""
    import torch

    from annotation.corpus.actions import StoredVectors
    from annotation.corpus.models import TextEmbedding
    from cqa_site.judging.embedding import SentenceEmbedder

    TextEmbedding.objects.all().delete()
    embedder = SentenceEmbedder()
    embedder.encode(["Something to load the model for."])
    torch.set_num_threads(threads)
    begin = time.perf_counter()
    StoredVectors(embedder).encode(sentences)
    return time.perf_counter() - begin


def measure_again(answers: list, sentences: list[str]) -> tuple[float, float]:
    """Return the seconds with stored vectors, and the mean similarity as in the paper."""
    import numpy as np

    from annotation.corpus.actions import StoredVectors
    from annotation.faithfulness.methods.faithfulness import measure, pool
    from cqa_site.judging.embedding import SentenceEmbedder

    begin = time.perf_counter()
    kept = dict(zip(sentences, StoredVectors(SentenceEmbedder()).encode(sentences), strict=True))

    def vectors(texts):
        return np.stack([kept[text] for text in texts])

    means = {
        mode: pool(measure(*answer, mode=mode, vectors=vectors) for answer in answers)
        for mode in MODES
    }
    return time.perf_counter() - begin, means["paper"].similarity


def show(name: str, value: float, unit: str, limit: str, is_kept: bool) -> None:
    print(f"{name:<52} {value:>8.2f} {unit:<12} {limit:<9} {'kept' if is_kept else 'MISSED'}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3, help="the fastest run counts")
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        start(folder)
        answers = read_answers(options.data / "relevance")
        sentences = distinct_sentences(answers)
        print(f"{len(answers)} answers, {len(sentences)} distinct sentences")
        for mode in MODES:
            seconds = min(measure_words(answers, mode) for _ in range(options.repeats))
            show(f"words, {mode} mode", seconds, "s", "≤ 5", seconds <= 5)
        for threads in options.threads:
            rate = len(sentences) / embed(sentences, threads)
            show(f"embedding, {threads} threads", rate, "sentences/s", "≥ 100", rate >= 100)
        runs = [measure_again(answers, sentences) for _ in range(options.repeats)]
        seconds, similarity = min(runs)
        show("again, both modes, vectors stored", seconds, "s", "≤ 2", seconds <= 2)
        print(f"mean similarity as in the paper: {similarity:.4f}")


if __name__ == "__main__":
    main()
