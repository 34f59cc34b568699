"""Model card of trained weights: purpose, data, quality and limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from .figures import LEAST_SHARE

SPLITS = ("dev", "test")
LIMITS = (
    "## Limits",
    "",
    "Suited to the language and kind of text that it was trained on. Figures for few cells",
    "vary from topic to topic. For other debates, choose the threshold again.",
)
BEHIND_TOPIC = "Both texts are read with the topic of the debate prepended, as `topic: text`."


def match_card(name: str, figures: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return a card in Markdown.

    Parameters
    ----------
    name
        Name of the scorer.
    figures
        Figures from `argsum.scorers.actions.trainers.train`.
    facts
        ``base``, ``trained_on`` and ``recipe``.
    """
    chosen = figures["chosen"]
    about = [
        "Rates how well two short texts express the same point: the cosine of their sentence",
        "vectors. Trained to match a debate argument with its key point, and with arguments that",
        "have the same key point.",
        *(["", BEHIND_TOPIC] if facts["recipe"].get("uses_topic") else []),
    ]
    quality = [
        "| split | cells | arguments | best key point right | ARI excl./incl. noise, best "
        "threshold per cell (oracle) | at the dev threshold | F1 of matches (pairs) |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(_match_row(split, figures[split]) for split in SPLITS if split in figures),
        "",
        f"Thresholds were chosen on dev: a match above {_number(chosen['threshold'])}; clusters",
        f"at {_number(chosen['clustering_threshold'])}. ARI: adjusted Rand index of clusters",
        "(average linkage) against the key points, mean over cells. The best threshold per cell",
        "is chosen by the reported figure itself, and is therefore an oracle. A cell in which",
        f"fewer than {LEAST_SHARE:.0%} of the arguments are clustered has no index excluding",
        "noise: the mean is over the others. The mean in brackets is over all cells, with 0 for",
        "such cells; it was used for the choice on dev.",
    ]
    training = [
        f"{_length(figures)} The weights are those that ranked pairs of dev arguments best, or "
        "their mean over",
        "several models with consecutive seeds.",
    ]
    return _card(name, facts, about, quality, training)


def quality_card(name: str, figures: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the card of a regressor; see `match_card`."""
    about = [
        "Rates the quality of a debate argument, from about 0 to 1: a ridge regression on the",
        "sentence vectors of the base model, fitted to the imported qualities of arguments.",
    ]
    quality = [
        "| split | arguments | Pearson | Spearman | mean absolute error |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {split} | {figure['n']} | {_number(figure['pearson'])} "
            f"| {_number(figure['spearman'])} | {_number(figure['absolute_error'])} |"
            for split, figure in figures.items()
            if split in ("train", *SPLITS)
        ),
        "",
        f"The penalty, {figures['penalty']:g}, was chosen on dev. Train figures are for the",
        "arguments that the model was fitted to.",
    ]
    return _card(name, facts, about, quality)


def writer_card(name: str, figures: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Return the card of a key point writer; see `match_card`."""
    about = [
        "Writes one key point for a cluster of debate arguments. Input: `summarize:`, the stance,",
        "the topic, and the arguments, best first. Decoding: beam search, without sampling.",
        "Trained on the arguments of each reference key point.",
    ]
    quality = [
        "Mean loss per token of the reference key point; lower is better. It shows how likely the",
        "writer finds the reference, not how good its own texts are.",
        "",
        "| split | key points | before | after |",
        "| --- | --- | --- | --- |",
        *(
            f"| {split} | {figure['n']} | {_number(figure.get('loss_before'))} "
            f"| {_number(figure['loss'])} |"
            for split in ("train", *SPLITS)
            if (figure := figures.get(split))
        ),
    ]
    training = [
        f"{_length(figures)} The weights after epoch {figures['best_epoch']} had the lowest loss "
        "on dev",
        "and were kept; 0 is before training.",
    ]
    return _card(name, facts, about, quality, training)


def _match_row(split: str, figures: Mapping[str, Any]) -> str:
    return (
        f"| {split} | {figures['cells']} | {figures['arguments']} "
        f"| {_number(figures['accuracy'])} | {_indices(figures['oracle'])} "
        f"| {_indices(figures['at_threshold'])} "
        f"| {_number(figures['f1'])} ({figures['pairs']}) |"
    )


def _indices(figures: Mapping[str, Any]) -> str:
    """Return the index excluding and including noise, with counts if some cells have no index."""
    both = f"{_number(figures['excluding'])} / {_number(figures['including'])}"
    n, cells = figures["cells_clustered"], figures["cells_judged"]
    if n == cells:
        return both
    zeros = _number(figures["excluding_with_zeros"])
    return f"{both} (excluding noise over {n} of {cells} cells; {zeros} with 0 for the others)"


def _length(figures: Mapping[str, Any]) -> str:
    cpu = figures["cpu_seconds"]
    return f"{figures['steps']} batches, {figures['seconds']} s ({cpu} s of CPU time)."


def _card(
    name: str,
    facts: Mapping[str, Any],
    about: Sequence[str],
    quality: Sequence[str],
    training: Sequence[str] = (),
) -> str:
    source = facts["trained_on"] or "files"
    head = [f"# {name}", "", f"Base model: {facts['base']}. Trained on: {source}.", ""]
    lines = [*head, *about, "", "## Figures", "", *quality, ""]
    if training:
        rows = [f"| {setting} | {value} |" for setting, value in facts["recipe"].items()]
        table = ["| setting | value |", "| --- | --- |", *rows]
        lines += ["## Training", "", *training, "", *table, ""]
    return "\n".join([*lines, *LIMITS]) + "\n"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
