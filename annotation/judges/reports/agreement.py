"""Judges beside people: how far each one agrees with votes and final labels of a campaign."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from annotation.consensus.reports import counted_votes
from annotation.labelling.models.campaigns import Campaign
from cqa_site.stats.agreement import confusion, krippendorff_alpha
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.reliability.cross_alpha import alpha_difference, cross_alpha
from cqa_site.stats.reliability.replacement import Replacement, replace_one_vote
from cqa_site.stats.verdicts import RULES

from .found import Confusion, LabelFigures
from .judges import Judge

HARDEST = 20


@dataclass(frozen=True, kw_only=True)
class People:
    """What people said in a campaign.

    Attributes
    ----------
    votes
        Counted votes of people and experts on items that are no control items, by argument.
    final
        Final labels by argument.
    scale
        Labels of the guideline, ascending.
    agreement
        Ordinal alpha among the votes: what a judge can be measured against.
    """

    votes: Ratings
    final: pd.Series
    scale: list[int]
    agreement: Estimate


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One judge against people.

    Attributes
    ----------
    n
        Arguments with a final label and a label of the judge.
    exact
        Share of them that are equal.
    bias, error
        Mean of judge minus final label (above 0: the judge's are higher), and of its absolute
        value, in steps of the scale.
    ordinal, interval
        Alpha of the final labels and the judge's.
    with_votes
        Ordinal alpha over pairs of a person's vote and the judge's label.
    difference
        That alpha minus people's own, over the arguments that carry both.
    """

    judge: Judge
    n: int
    exact: float | None
    bias: float | None
    error: float | None
    ordinal: Estimate
    interval: Estimate
    with_votes: Estimate
    difference: Estimate
    people: People = field(repr=False)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Final labels (rows) against the judge's (columns)."""
        used = {*self.people.final.astype(int), *self.judge.labels.astype(int)}
        scale = sorted({*self.people.scale, *used})
        return confusion(self.people.final, self.judge.labels, scale)

    @cached_property
    def replacement(self) -> Replacement:
        """What the majority would have been with the judge in the place of one vote."""
        return replace_one_vote(self.people.votes, self.judge.labels)

    @cached_property
    def hardest(self) -> pd.DataFrame:
        """Arguments where the two lie farthest apart: argument, final, judge, distance."""
        both = _both(self.people, self.judge)
        both["distance"] = (both["judge"] - both["final"]).abs()
        far = both[both["distance"] > 0].rename_axis("argument").reset_index()
        return far.sort_values(["distance", "argument"], ascending=[False, True]).head(HARDEST)


def people_of(campaign: Campaign) -> People:
    """Votes and final labels of people; three queries at most."""
    rows = counted_votes(campaign).filter(item__control_label__isnull=True).order_by("pk")
    votes = pd.DataFrame(
        list(rows.values_list("item__argument", "rater", "label")),
        columns=["item", "rater", "value"],
    )
    # One rater may have met the same sentence as two items; the first word counts.
    ratings = Ratings.from_frame(votes.drop_duplicates(["item", "rater"]))
    return People(
        votes=ratings,
        final=final_labels_of(campaign),
        scale=campaign.guideline.values,
        agreement=krippendorff_alpha(ratings, "ordinal"),
    )


def final_labels_of(campaign: Campaign) -> pd.Series:
    """Final labels by argument; none of them rests on the vote of a machine."""
    rows = campaign.final_labels.filter(label__isnull=False).order_by("argument")
    table = pd.DataFrame(
        list(rows.values_list("argument", "label")), columns=["argument", "label"]
    )
    return table.set_index("argument")["label"].astype(float)


def compare(judge: Judge, people: People) -> Comparison:
    """Hold one judge against people."""
    both = _both(people, judge)
    difference = both["judge"] - both["final"]
    pair = paired(both)
    n = len(both)
    return Comparison(
        judge=judge,
        people=people,
        n=n,
        exact=float((difference == 0).mean()) if n else None,
        bias=float(difference.mean()) if n else None,
        error=float(difference.abs().mean()) if n else None,
        ordinal=krippendorff_alpha(pair, "ordinal"),
        interval=krippendorff_alpha(pair, "interval"),
        with_votes=cross_alpha(people.votes, judge.labels, "ordinal"),
        difference=difference_from_people(people, judge),
    )


def difference_from_people(people: People, judge: Judge, confidence: float = 0.95) -> Estimate:
    """Ordinal alpha of votes and judge minus that of the votes; rule "one against a group".

    With fewer items the judge's few errors may not occur at all, and no interval tells of them.
    """
    rule = RULES["one against a group"]
    found = alpha_difference(people.votes, judge.labels, "ordinal", confidence)
    if found.low is None or rule.allows(found.n_pairable_items):
        return found
    reason = f"fewer than {rule.least} arguments with two votes and a label of the judge"
    return replace(found, low=None, high=None, interval=None, reason=reason)


def paired(both: pd.DataFrame) -> Ratings:
    """Ratings of two raters, one a column, indexed by item."""
    return Ratings.from_frame(
        both.melt(ignore_index=False, var_name="rater").rename_axis("item").reset_index()
    )


def label_by_label(table: pd.DataFrame) -> pd.DataFrame:
    """For each label of a confusion table: n final, n judge, recall, precision, mean judge."""
    counts = table.to_numpy(dtype=float)
    finals, given, hits = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    columns = table.columns.to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "final": finals.astype(int),
            "judge": given.astype(int),
            "recall": _shares(hits, finals),
            "precision": _shares(hits, given),
            "mean_judge": _shares(counts @ columns, finals),
        },
        index=table.index.astype(int),
    )


def label_rows(table: pd.DataFrame) -> list[LabelFigures]:
    """`label_by_label` as plain rows; what is not defined is None."""
    rows = label_by_label(table).rename_axis("label").reset_index()
    plain = rows.astype(object).where(rows.notna(), None)
    return [LabelFigures(*row) for row in plain.itertuples(index=False, name=None)]


def confusion_of(table: pd.DataFrame) -> Confusion:
    """A confusion table with the shares of each row."""
    counts = table.to_numpy()
    sums = counts.sum(axis=1)
    return Confusion(
        values=[int(value) for value in table.index],
        cells=counts.astype(int).tolist(),
        sums=sums.astype(int).tolist(),
        shares=[
            [float(n / total) if total else None for n in row]
            for row, total in zip(counts, sums, strict=True)
        ],
    )


def common_arguments(judges: Iterable[Judge]) -> set[int]:
    """Arguments that every judge labelled."""
    sets = [set(judge.labels.index) for judge in judges]
    return set.intersection(*sets) if sets else set()


def narrowed(judge: Judge, arguments: set[int]) -> Judge:
    """The same judge on these arguments only; what it was asked and cost stays."""
    return replace(judge, labels=judge.labels[judge.labels.index.isin(arguments)])


def _both(people: People, judge: Judge) -> pd.DataFrame:
    return pd.DataFrame({"final": people.final, "judge": judge.labels}).dropna()


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
