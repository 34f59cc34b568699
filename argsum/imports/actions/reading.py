"""The kinds of files with stored scores, as lines of an import."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from argsum.imports.methods.released_scores import (
    CLUSTERINGS,
    StoredRun,
    read_clusterings,
    read_evaluations,
    read_llm_scores,
    read_soft_scores,
)
from argsum.imports.methods.system_files import holds_key_points
from argsum.metrics.methods.names import LLM, LONGEST, RELEASED_PARTS, soft_name
from cqa_site.files.actions.rows import ImportRefused, Line, Note, Source
from cqa_site.tabular import UnreadableFile
from cqa_site.tabular.strict_json import StrictJsonError, loads

from .entries import SETTING, StoredEntry, system_of

MOST_BYTES = 64 * 2**20


def read_stored(source: Source) -> Iterator[Line]:
    """One entry a set, whatever the file holds.

    Clusterings, evaluations, soft scores, or means of a language model's counts.
    """
    content = _content(source)
    if any(part in content for part in CLUSTERINGS):
        for part in CLUSTERINGS:
            runs = read_clusterings(source.path, part=part, name=source.name)
            is_first = part == CLUSTERINGS[0]
            suffix = "" if is_first else " (iterative)"
            yield from _runs(source, runs, suffix=suffix, has_clusters=True)
    elif "scores" in content:
        yield Note(_("The file holds scores without texts: its sets have no key points."))
        yield from _runs(source, read_evaluations(source.path, name=source.name))
    elif any(name in content for name in LLM):
        yield Note(_("Only the scores of the sets that people counted are read from this file."))
        yield from _llm_scores(source)
    elif holds_key_points(content):
        raise ImportRefused(
            _(
                "The file holds key points by topic and stance and no scores: import it as “Key "
                "points of a system”."
            )
        )
    else:
        yield from _soft_scores(source)


def _content(source: Source) -> dict[str, Any]:
    try:
        found = loads(source.path.read_bytes(), max_bytes=MOST_BYTES)
    except StrictJsonError as error:
        raise UnreadableFile(source.name, str(error)) from None
    if not isinstance(found, dict):
        raise UnreadableFile(source.name, "is no JSON object")
    return found


def _runs(
    source: Source, runs: Sequence[StoredRun], *, suffix: str = "", has_clusters: bool = False
) -> Iterator[StoredEntry]:
    for position, run in enumerate(runs, start=1):
        yield StoredEntry(
            row=None,
            dataset=str(source.options.get("dataset") or ""),
            # Evaluations and clusterings come under one file name, in two folders.
            source=f"{source.name}{' clusters' if has_clusters else ''}{suffix}",
            position=position,
            of=len(runs),
            scores=_named(source, run),
            topic=run.topic,
            stance=run.stance,
            system=f"{system_of(source.options, source.name)}{suffix}",
            setting=run.setting,
            parameters=run.parameters,
            seconds=run.seconds,
            clusters=run if has_clusters else None,
            order=str(source.options.get("order") or ""),
            together=runs if has_clusters else (),
        )


def _llm_scores(source: Source) -> Iterator[StoredEntry]:
    for temperature, lists in read_llm_scores(source.path, name=source.name).items():
        count = len(next(iter(lists.values())))
        for place in range(count):
            yield StoredEntry(
                row=None,
                dataset=str(source.options.get("dataset") or ""),
                source=source.name,
                position=place,
                of=count,
                scores={metric: values[place] for metric, values in lists.items()},
                scored_with=f"{SETTING}, temperature {temperature}"[:LONGEST],
            )


def _named(source: Source, run: StoredRun) -> dict[str, float]:
    for name in run.scores:
        if len(name) > LONGEST:
            raise UnreadableFile(source.name, f"{name[:40]!r} is longer than a name may be")
    return run.scores


def _soft_scores(source: Source) -> Iterator[StoredEntry]:
    functions = read_soft_scores(source.path, name=source.name)
    named = {}
    for function, lists in functions.items():
        for part, released in RELEASED_PARTS.items():
            try:
                named[soft_name(function, part)] = lists[released]
            except ValueError as error:
                raise UnreadableFile(source.name, str(error), column=function) from None
    count = len(next(iter(named.values()), []))
    for place in range(count):
        yield StoredEntry(
            row=None,
            dataset=str(source.options.get("dataset") or ""),
            source=source.name,
            position=place,
            of=count,
            scores={name: values[place] for name, values in named.items()},
        )
