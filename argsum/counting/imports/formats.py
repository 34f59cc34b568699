"""The file format of counts: detection, sample file, rows and options."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.counting.forms import CountImportForm
from argsum.counting.methods.released_counts import LEFT_OUT, CountedSet, CountFile, read_counts
from argsum.datasets.imports.argument_files import DATASET, KEY_POINTS, STANCE, TOPIC
from argsum.datasets.imports.datasets import DatasetImportForm
from argsum.datasets.imports.formats import DatasetFormat
from cqa_site.files.actions.imports import Flag, ImportSource, Line, Note, rejected
from cqa_site.files.format_parts import (
    Look,
    ObjectCount,
    Option,
    Sample,
    csv_of,
    register_counted,
    register_options,
)
from cqa_site.files.formats import JUDGED, register_format
from .sheets import (
    BY_ORDER,
    COUNT_SHEETS,
    ONLY_SAME,
    CountEntry,
    CountReconciliation,
    dataset_of,
    rater_of,
)

COLUMNS = (
    "topic", "stance", "reference", "prediction", "n_covered", "n_unique", "coverage",
    "redundancy", "file_name",
)  # fmt: skip
# Key points by two systems: one misses a key point, the other repeats one.
WRITTEN = {
    "alpha.json": ("People get together", "The air gets better"),
    "beta.json": ("People meet", "Neighbours meet", "Children learn about plants", "Cooler towns"),
}
COUNTS = {"alpha.json": (2, 2), "beta.json": (3, 3)}


def _counts() -> bytes:
    rows = []
    for name, texts in WRITTEN.items():
        covered, unique = COUNTS[name]
        shares = (covered / len(KEY_POINTS), 1 - unique / len(texts))
        rows.append(
            (TOPIC, STANCE, _lines(KEY_POINTS), _lines(texts), covered, unique, *shares, name)
        )
    return csv_of(COLUMNS, rows)


def _lines(texts: tuple[str, ...]) -> str:
    return "\n".join(f"{number}: {text}" for number, text in enumerate(texts, 1))


SAMPLE = Sample("sample-counts.csv", _counts, {"dataset": DATASET, "rater": "A1"})


def fits_counts(look: Look) -> str:
    """Return why the columns fit (references, predictions and counts), or "" if they do not."""
    if not look.has("reference", "prediction", "coverage", "redundancy"):
        return ""
    return _("each row has references, predictions, coverage and redundancy")


def read_count_sheets(source: ImportSource) -> Iterator[Line]:
    """Yield one sheet per row; rows without a judgement are counted and left out."""
    file = read_counts(source.path, name=source.name)
    for problem in file.problems:
        yield rejected(problem, of=COUNT_SHEETS)
    yield from _notes(file)
    refusal = _("References must be “same” or “order”, not “%s”.")
    references = source.choice("references", (ONLY_SAME, BY_ORDER), refusal)
    for counted in file.sets:
        yield from _remarks(counted)
        yield CountEntry(
            row=counted.row,
            dataset=dataset_of(source.options),
            source=source.name,
            rater=rater_of(source.options, source.name),
            counted=counted,
            references=references,
        )


def _notes(file: CountFile) -> Iterator[Note]:
    if file.not_done:
        text = ngettext(
            "%s set was not judged (-2) and is left out.",
            "%s sets were not judged (-2) and are left out.",
            file.not_done,
        )
        yield Note(text % file.not_done)
    aside = sum(counted_set.is_left_out for counted_set in file.sets)
    if aside:
        text = ngettext(
            "%(n)s set is from a system called %(name)s, which the paper leaves out.",
            "%(n)s sets are from systems called %(name)s, which the paper leaves out.",
            aside,
        )
        yield Note(text % {"n": aside, "name": LEFT_OUT})


def _remarks(counted: CountedSet) -> Iterator[Flag]:
    """Yield remarks on counts marked as unsure and on counts that contradict their share."""
    pairs = (
        ("n_covered", counted.covered, counted.coverage, len(counted.references)),
        ("n_unique", counted.unique, _unique_share(counted), len(counted.summaries)),
    )
    for column, count, share, most in pairs:
        if share is None:
            yield Flag(
                counted.row, column, _("Unsure: stored as such and left out of all figures.")
            )
        elif count is not None and abs(count - share * most) > 1e-6:
            text = _("The count is %(count)g, but the share implies %(meant)g. The share is used.")
            yield Flag(counted.row, column, text % {"count": count, "meant": share * most})


def _unique_share(counted: CountedSet) -> float | None:
    return None if counted.redundancy is None else 1 - counted.redundancy


class CountsImportForm(DatasetImportForm):
    title = lazy("Counts by one person")
    heading = lazy("Rater and dataset")

    def form(self, data: Any) -> CountImportForm:
        """Return the form; if the study has a single dataset, it is preselected."""
        options = self.file.options
        only = self.names[0] if len(self.names) == 1 else dataset_of(options)
        initial = options | {
            "dataset": dataset_of(options) if options.get("dataset") else only,
            "rater": rater_of(options, self.file.name),
        }
        return CountImportForm(data, initial=initial)


def register_count_imports() -> None:
    """Register the import of counts."""
    register_counted(
        ObjectCount("sets", lazy("Sets of key points")),
        ObjectCount(COUNT_SHEETS, lazy("Count sheets")),
    )
    register_options(
        Option(
            "references",
            longest=10,
            hint=(
                "For references worded differently from the dataset's: blank imports clear "
                "matches, same refuses them, order matches the first with the first."
            ),
        )
    )
    register_format(
        DatasetFormat(
            "count_sheets",
            lazy("Coverage and uniqueness counts by one person (CSV)"),
            read_count_sheets,
            CountReconciliation,
            heading=JUDGED,
            fits=fits_counts,
            sample=SAMPLE,
            asks="counts",
            asking=CountsImportForm,
            holds=lazy(
                "One row per set: topic, stance, reference, prediction, n_covered, n_unique, "
                "coverage, redundancy, file_name. Coverage and redundancy are read from their "
                "own columns; -2 means not judged, -1 an unsure count."
            ),
        )
    )
