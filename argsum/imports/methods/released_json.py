"""Parts of the authors' JSON files, each read or refused by name; see `released_scores`."""

import os
import re
from pathlib import Path
from typing import Any, TypeGuard

from cqa_site.tabular import UnreadableFile, printable_name
from cqa_site.tabular.shapes import MEGABYTE
from cqa_site.tabular.strict_json import StrictJsonError, loads

_MOST_BYTES = 64 * MEGABYTE
_SETTING = re.compile(r"\(?\s*(-?[\d.]+(?:e-?\d+)?(?:\s*,\s*-?[\d.]+(?:e-?\d+)?)*)\s*,?\s*\)?")


def read_json(path: str | os.PathLike[str], name: str) -> Any:
    try:
        return loads(Path(path).read_bytes(), max_bytes=_MOST_BYTES)
    except StrictJsonError as error:
        raise UnreadableFile(name, str(error)) from None
    except OSError as error:
        raise UnreadableFile(name, f"cannot be opened ({error.strerror})") from None


def an_object(value: Any, file: str, column: str | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        place = None if column is None else printable_name(column)
        raise UnreadableFile(file, "is no JSON object with what it should hold", column=place)
    return value


def parameter_names(content: dict[str, Any], file: str) -> list[str]:
    names = content.get("parameter_names")
    if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
        raise UnreadableFile(file, "is no list of names", column="parameter_names")
    return names


def parameters_of(setting: str, names: list[str], file: str) -> dict[str, float]:
    found = _SETTING.fullmatch(setting)
    values = found[1].split(",") if found else []
    try:
        return dict(zip(names, map(float, values), strict=True))
    except ValueError:
        reason = f"{printable_name(setting, 60)} does not give {', '.join(names)}"
        raise UnreadableFile(file, reason) from None


def stance_of(text: str, file: str, topic: str) -> int:
    if text not in ("-1", "1"):
        raise UnreadableFile(file, f"the stance {text[:20]!r} is neither 1 nor -1", column=topic)
    return int(text)


def scores_of(given: Any, file: str, place: str) -> dict[str, float]:
    scores = an_object(given, file, place)
    for key, value in scores.items():
        if not is_number(value):
            raise UnreadableFile(file, f"{printable_name(key, 60)} is no number", column=place)
    return scores


def seconds_of(given: Any) -> float | None:
    value = given.get("runtime") if isinstance(given, dict) else None
    return float(value) if is_number(value) else None


def cluster_ids_of(given: Any, file: str, place: str) -> tuple[int, ...]:
    ids = an_object(given, file, place).get("cluster_ids")
    if not isinstance(ids, list) or not all(
        isinstance(each, int) and not isinstance(each, bool) and each >= -1 for each in ids
    ):
        raise UnreadableFile(file, "cluster_ids is no list of whole numbers from -1", column=place)
    return tuple(ids)


def texts_of(named: dict[str, Any], topic: str, stance: str, file: str) -> tuple[str, ...]:
    """The arguments of a cell where the file names them; each text once."""
    if not named:
        return ()
    place = f"arguments, {topic} ({stance})"
    texts = an_object(named.get(topic, {}), file, place).get(stance)
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise UnreadableFile(file, "is no list of texts", column=printable_name(place))
    if len(set(texts)) != len(texts):
        raise UnreadableFile(file, "names an argument twice", column=printable_name(place))
    return tuple(texts)


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
