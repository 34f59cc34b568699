"""Rubrics as pages send them: fields of a form, or a JSON file."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.rubrics.methods.as_json import rubric_from_dict
from benchmark.rubrics.methods.rubric import MOST_CRITERIA, Criterion, Rubric, RubricError
from cqa_site.tabular.strict_json import StrictJsonError, loads

from .drafts import MOST_GROUPS, POINTS, CriterionDraft, RubricDraft


def draft_of(rubric: Rubric) -> RubricDraft:
    """A rubric as the page shows it."""
    return RubricDraft(
        name=rubric.name,
        allows_halves=rubric.allows_halves,
        groups=[(each.key, each.name) for each in rubric.groups],
        criteria=[_criterion_draft(each) for each in rubric.criteria],
    )


def _criterion_draft(criterion: Criterion) -> CriterionDraft:
    missing = [""] * (len(POINTS) - len(criterion.levels))
    return CriterionDraft(
        name=criterion.name,
        asks=criterion.asks,
        group=criterion.group,
        maximum=str(criterion.maximum),
        counted_by=criterion.counted_by or "",
        texts=[each.text for each in criterion.levels] + missing,
        examples=[each.example for each in criterion.levels] + missing,
    )


def read_draft(data: Mapping[str, Any]) -> RubricDraft:
    """Everything that the page sent back, whatever it is."""
    groups = range(_count(data, "groups", MOST_GROUPS))
    criteria = range(_count(data, "criteria", MOST_CRITERIA))
    return RubricDraft(
        name=_text(data, "name"),
        allows_halves="allows_halves" in data,
        groups=[(_text(data, f"g{at}-key")[:80], _text(data, f"g{at}-name")) for at in groups],
        criteria=[_read_criterion(data, f"c{at}-") for at in criteria],
    )


def _read_criterion(data: Mapping[str, Any], at: str) -> CriterionDraft:
    return CriterionDraft(
        **{
            name: _text(data, at + name)
            for name in ("name", "asks", "group", "maximum", "counted_by")
        },
        texts=[_text(data, f"{at}text{points}") for points in POINTS],
        examples=[_text(data, f"{at}example{points}") for points in POINTS],
    )


def _text(data: Mapping[str, Any], name: str) -> str:
    # Browsers send line ends as two characters; a rubric uploaded as JSON has one.
    return str(data.get(name, "")).replace("\r\n", "\n").replace("\x00", "").strip()


def _count(data: Mapping[str, Any], name: str, most: int) -> int:
    given = str(data.get(name, "0"))
    is_number = given.isascii() and given.isdecimal() and len(given) < 4
    return min(int(given), most) if is_number else 0


class RubricFileForm(forms.Form):
    """A rubric as JSON, as this site gives it out."""

    file = forms.FileField(label=gettext_lazy("JSON file"), max_length=255)

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".json"

    def clean_file(self) -> Rubric:
        """The rubric in the file; says which criterion and field is wrong."""
        file = self.cleaned_data["file"]
        most = min(settings.MAX_UPLOAD_BYTES, 1024 * 1024)
        if file.size > most:
            raise forms.ValidationError(_("Larger than %s.") % filesizeformat(most))
        try:
            return rubric_from_dict(loads(file.read()))
        except (StrictJsonError, RubricError) as error:
            raise forms.ValidationError(str(error)) from error
