"""Every figure about the judges of a campaign, as plain values for pages, files and the API.

What is undefined is None beside a reason, never NaN.
"""

from dataclasses import asdict
from typing import Any

import pandas as pd

from annotation.corpus.models.questions import Argument
from annotation.labelling.models.campaigns import Campaign

from .agreement import (
    Comparison,
    People,
    common_arguments,
    compare,
    label_rows,
    narrowed,
    people_of,
)
from .judges import Judge, judges_of, rationales
from .versions import Choice

# A judge that gave no label for more than one in twenty is not ranked among the others.
ENOUGH = 0.95
SHOWN_TEXT = 400


def compute_figures(campaign: Campaign, choice: Choice) -> dict[str, Any]:
    """Compute all figures; at most thirteen queries, whatever the size.

    Keys: ``people``, ``common`` (arguments that every judge labelled, and whether only they
    count), ``judges`` (best first, those of low coverage last), ``chosen`` and ``other`` (keys
    of the judges looked at), ``confusion``, ``per_label``, ``hardest``, ``prompts``.
    """
    people, judges = people_of(campaign), judges_of(campaign)
    common = common_arguments(judges)
    if choice.is_common:
        judges = [narrowed(judge, common) for judge in judges]
    compared = sorted((compare(judge, people) for judge in judges), key=_rank)
    chosen, other = _chosen(compared, choice)
    return {
        "people": _people(people),
        "common": {"is_on": choice.is_common, "n": len(common)},
        "judges": [_judge(comparison) for comparison in compared],
        "chosen": chosen.judge.key if chosen else None,
        "other": other.judge.key if other else None,
        "confusion": _confusion(chosen) if chosen else None,
        "per_label": label_rows(chosen.table) if chosen else [],
        "hardest": _hardest(chosen, other) if chosen else [],
    }


def _rank(comparison: Comparison) -> tuple[bool, float, str]:
    """Enough coverage first, then the higher alpha; undefined ones at the end."""
    value = comparison.ordinal.value
    is_low = comparison.judge.coverage < ENOUGH
    return is_low, -value if value is not None else 2.0, comparison.judge.key


def _chosen(
    compared: list[Comparison], choice: Choice
) -> tuple[Comparison | None, Comparison | None]:
    by_key = {each.judge.key: each for each in compared}
    chosen = by_key.get(choice.judge) or (compared[0] if compared else None)
    other = by_key.get(choice.other)
    return chosen, None if other is chosen else other


def _people(people: People) -> dict[str, Any]:
    return {
        "final": len(people.final),
        "votes": people.votes.n_values,
        "raters": people.votes.n_raters,
        "items": people.votes.n_items,
        "scale": people.scale,
        "agreement": people.agreement.as_dict(),
    }


def _judge(comparison: Comparison) -> dict[str, Any]:
    judge = comparison.judge
    return {
        **_source(judge),
        "planned": judge.planned,
        "labelled": judge.labelled,
        "unscored": judge.unscored,
        "coverage": judge.coverage,
        "is_low": judge.coverage < ENOUGH,
        "replicates": judge.replicates,
        "consistency": judge.consistency.as_dict() if judge.consistency else None,
        "per_thousand": judge.per_thousand,
        "is_out_of_fold": judge.is_out_of_fold,
        "n": comparison.n,
        "exact": comparison.exact,
        "bias": comparison.bias,
        "error": comparison.error,
        "ordinal": comparison.ordinal.as_dict(),
        "interval": comparison.interval.as_dict(),
        "with_votes": comparison.with_votes.as_dict(),
        "difference": comparison.difference.as_dict(),
        "replacement": asdict(comparison.replacement),
    }


def _source(judge: Judge) -> dict[str, Any]:
    """What the judge is: the run and its prompt, the version of the classifier, or a file."""
    run, trained = judge.run, judge.trained
    return {
        "key": judge.key,
        "name": judge.name,
        "kind": judge.kind,
        "at": judge.at.isoformat(),
        "model": run.spec["model"] if run else "",
        "prompt": str(run.prompt) if run else "",
        "prompt_number": run.prompt.number if run else None,
        "run": str(run.public_id) if run else None,
        "run_number": run.number if run else None,
        "is_active": bool(run and run.is_active),
        "trained": str(trained.public_id) if trained else None,
        "trained_number": trained.number if trained else None,
    }


def _confusion(comparison: Comparison) -> dict[str, Any]:
    counts = comparison.table.to_numpy()
    sums = counts.sum(axis=1)
    shares = [
        [float(n / total) if total else None for n in row]
        for row, total in zip(counts, sums, strict=True)
    ]
    return {
        "values": [int(value) for value in comparison.table.index],
        "cells": counts.astype(int).tolist(),
        "sums": sums.astype(int).tolist(),
        "shares": shares,
    }


def _hardest(comparison: Comparison, other: Comparison | None) -> list[dict[str, Any]]:
    far = comparison.hardest
    ids = far["argument"].tolist()
    texts = Argument.objects.select_related("comparison").in_bulk(ids)
    votes = _votes_of(comparison.people, ids)
    reasons = rationales(comparison.judge, ids)
    others = other.judge.labels if other else pd.Series(dtype=float)
    other_reasons = rationales(other.judge, ids) if other else {}
    return [
        {
            **sentence(texts[row.argument]),
            "votes": votes.get(row.argument, []),
            "final": int(row.final),
            "judge": int(row.judge),
            "reasons": reasons.get(row.argument, []),
            "other": int(others[row.argument]) if row.argument in others else None,
            "other_reasons": other_reasons.get(row.argument, []),
        }
        for row in far.itertuples()
    ]


def sentence(argument: Argument) -> dict[str, str]:
    """An argument in a list: its id, its objects and the beginning of its text."""
    return {
        "argument": str(argument.public_id),
        "object1": argument.comparison.object1,
        "object2": argument.comparison.object2,
        "text": argument.text[:SHOWN_TEXT],
    }


def _votes_of(people: People, ids: list[int]) -> dict[int, list[int]]:
    table = people.votes.to_frame()
    table = table[table["item"].isin(ids)].sort_values("value")
    return {
        int(item): values.astype(int).tolist() for item, values in table.groupby("item")["value"]
    }
