"""Transfer: how well a match scorer trained on ArgKP separates the arguments of Debate.

    python -m benchmarks.transfer [--scorer NAME] [--data ../shared/data]

Prints one line for untrained all-MiniLM-L6-v2, one for a scorer of the site in DATA_DIR (trained
by `manage.py train_match_scorer --data argkp2021`), and one for the authors' own scorer, from
their stored clusterings. Debate is used only to choose the best threshold of each cell (an oracle,
as in the paper, with 70 % of the arguments clustered). In the last column, the threshold comes
from the scorer's own dev split instead.
"""

import argparse
import os
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
AUTHORS = "clusterings/Debate_test_MCArgSum_SBERT_all_mpnet_base.json"
ROW = "{:<34}{:>20}{:>12}{:>34}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scorer", default="", help="name of a trained match scorer")
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    os.environ |= {"TQDM_DISABLE": "1"}
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    import django

    django.setup()
    from argsum.papers.reports.release import KeyPointRelease

    release = KeyPointRelease(options.data)
    cells = [_cell(each) for each in release.debate_cells]
    n = sum(len(each.judged) for each in cells)
    print(f"Debate: {len(cells)} cells, {n:,} arguments\n")
    print(ROW.format("match scorer", "ARI, oracle", "accuracy", "at the scorer's dev threshold"))
    report("MiniLM, not trained", cells)
    if options.scorer:
        report(options.scorer, cells, _scorer(options.scorer))
    authors(release)


def report(name, cells, scorer=None) -> None:
    """Print one line; ``scorer`` is None for the packaged model."""
    from argsum.papers.reports.reproduction import LEAST_SHARES
    from argsum.scorers.actions.models import source_of
    from argsum.scorers.actions.training_data import scored_cells, split_figures
    from argsum.scorers.methods.figures import accuracy, best_per_cell, cluster_cells
    from cqa_site.judging.embedding import PACKAGED_MODEL, SentenceEmbedder

    embedder = SentenceEmbedder(source_of(scorer) if scorer else PACKAGED_MODEL)
    uses_topic = bool(scorer and scorer.uses_topic)
    scored = scored_cells(cells, embedder.encode, uses_topic=uses_topic)
    figures = cluster_cells(scored).cells
    share = LEAST_SHARES["Debate"]
    oracle = [
        best_per_cell(figures, noise=noise, least_share=share).over
        for noise in ("exclude", "include")
    ]
    right, fixed = accuracy(scored), ""
    if scorer:
        found = split_figures(scored, scorer.figures["chosen"])["at_threshold"]
        fixed = (
            f"{_number(found['excluding'])} ({found['cells_clustered']} of "
            f"{found['cells_judged']} cells; {_number(found['excluding_with_zeros'])}) / "
            f"{_number(found['including'])}"
        )
    both = " / ".join(_number(each.mean) for each in oracle)
    print(ROW.format(name, both, _number(right), fixed), flush=True)


def authors(release) -> None:
    """Print the line of the authors' stored clusterings, if their file is available."""
    from argsum.papers.reports.release import CLUSTERS, EXCLUDING, INCLUDING, cluster_cell
    from argsum.papers.reports.reproduction import clusters

    if not (release.folder / AUTHORS).exists():
        return
    found = dict(clusters(release))
    both = [
        found[CLUSTERS["Debate"], cluster_cell("MCArgSum", each, "ARI")].released.numbers[0]
        for each in (EXCLUDING, INCLUDING)
    ]
    print(ROW.format("the authors' all-mpnet-base-v2", " / ".join(map(_number, both)), "–", ""))


def _scorer(name):
    from argsum.scorers.models import Scorer

    return Scorer.objects.get(name=name, task=Scorer.Task.MATCH, state=Scorer.State.READY)


def _cell(each):
    """Return a training cell; each argument of Debate matches its one reason and no other."""
    from argsum.scorers.methods.training import TrainingCell

    labels = np.array(
        [[int(point == own) for point in each.key_points] for own in each.reference],
        dtype=np.int8,
    )
    judged = tuple(range(len(each.arguments)))
    return TrainingCell(each.topic, each.stance, each.arguments, each.key_points, labels, judged)


def _number(value) -> str:
    return "–" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
