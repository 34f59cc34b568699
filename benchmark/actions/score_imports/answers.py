"""Which answer of the study a row of any table is about; described ones are made if need be."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.actions.importing.answers import Place
from annotation.actions.importing.origin import kind_of
from annotation.actions.importing.rows import AnswerEntry
from annotation.models.questions import text_key
from cqa_site.people.models import Study

About = Mapping[str, Any]
_COLUMNS = (
    "pk",
    "public_id",
    "source",
    "position",
    "choice",
    "question__comparison__object1",
    "question__comparison__object2",
    "question__aspect",
    "system__name",
    "scenario",
    "text_sha256",
)


class NoAnswer(Exception):
    """The row is about no answer of the study, or about nobody knows which."""


class AnswerFinder:
    """The answers of a study by id, by place and by what they are about; one query."""

    def __init__(self, study: Study, file: str, *, knows_aspect: bool) -> None:
        self.file = file
        self.knows_aspect = knows_aspect
        self._by_id: dict[str, int] = {}
        self._by_place: dict[Place, int] = {}
        self._by_pair: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
        # What the file itself describes: where its answer will stand.
        self._made: dict[tuple, Place] = {}
        for row in study.answers.order_by("pk").values_list(*_COLUMNS).iterator(5_000):
            self._keep(dict(zip(_COLUMNS, row, strict=True)))

    def _keep(self, row: dict[str, Any]) -> None:
        self._by_id[str(row["public_id"])] = row["pk"]
        if row["source"]:
            self._by_place[row["source"], row["position"], row["choice"]] = row["pk"]
        names = ("question__comparison__object1", "question__comparison__object2", "system__name")
        pair = tuple(row[name] for name in names)
        known = ("pk", "question__aspect", "scenario", "choice", "text_sha256")
        self._by_pair[pair].append({name: row[name] for name in known})

    def find(self, row: int, about: About) -> int | Place | AnswerEntry:
        """Key of an answer, the place of one that an earlier row brought, or a new one.

        Raises NoAnswer with the reason.
        """
        if found := self._by_id.get(about.get("answer", "")):
            return found
        if found := self._by_place.get(_place(about)):
            return found
        if not {"object1", "object2", "system"} <= set(about):
            raise NoAnswer(_("the study has no answer with this id, or from this place"))
        fitting = self._fitting(about)
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise NoAnswer(
                ngettext(
                    "%s answer of the study fits; say which by its id, choice or text",
                    "%s answers of the study fit; say which by their id, choice or text",
                    len(fitting),
                )
                % len(fitting)
            )
        if not about.get("text", "").strip():
            raise NoAnswer(_("the study has no such answer, and the row has no text of one"))
        return self._new(row, about)

    def _fitting(self, about: About) -> list[int]:
        wanted = {"scenario": about.get("scenario"), "choice": about.get("choice")}
        if self.knows_aspect:
            wanted["question__aspect"] = about.get("aspect", "")
        if "text" in about:
            wanted["text_sha256"] = text_key(about["text"])
        given = {name: value for name, value in wanted.items() if value is not None}
        pair = (about["object1"], about["object2"], about["system"])
        return [
            row["pk"]
            for row in self._by_pair.get(pair, ())
            if all(row[name] == value for name, value in given.items())
        ]

    def _new(self, row: int, about: About) -> Place | AnswerEntry:
        names = ("answer", "object1", "object2", "aspect", "system", "scenario", "choice")
        described = (*(about.get(name) for name in names), text_key(about["text"]))
        if described in self._made:
            return self._made[described]
        scenario = about.get("scenario") or 0
        made = AnswerEntry(
            row=row,
            object1=about["object1"],
            object2=about["object2"],
            aspect=about.get("aspect", ""),
            text=about["text"],
            source=about.get("source") or self.file,
            position=about.get("position") or row,
            choice=about.get("choice") or 1,
            system=about["system"],
            system_kind=kind_of(about["system"], scenario),
            scenario=scenario,
            column="text",
        )
        self._made[described] = (made.source, made.position, made.choice)
        return made


def _place(about: About) -> Place:
    return about.get("source", ""), about.get("position") or 0, about.get("choice") or 1
