"""A new crowd link, and what somebody says does not work."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from .models import ParticipantLink

CODES = ("completed_code", "screened_out_code", "no_work_code", "fault_code")
OPTIONAL = ("skips_code", "stopped_code", "return_url")
PARAMS = ("participant_param", "study_param", "session_param")


class FaultForm(forms.Form):
    """What went wrong."""

    comment = forms.CharField(
        label=_("What does not work?"),
        max_length=1_000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ParticipantLinkForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no ModelForm[…]
    """A new link for a crowd platform."""

    days = forms.IntegerField(label=_("Days valid"), min_value=1, max_value=365, initial=30)
    return_url = forms.URLField(
        label=_("Address for the way back"),
        required=False,
        max_length=300,
        assume_scheme="https",
        help_text=_("Write {code} where the code belongs. Empty: known for Prolific alone."),
    )

    class Meta:
        model = ParticipantLink
        fields = [
            "platform",
            "required_items",
            "max_participants",
            "completed_code",
            "screened_out_code",
            "no_work_code",
            "fault_code",
            *OPTIONAL,
            "participant_param",
            "study_param",
            "session_param",
        ]
        labels = {
            "participant_param": _("Parameter: participant"),
            "study_param": _("Parameter: study"),
            "session_param": _("Parameter: session"),
        }
        help_texts = {
            "skips_code": _("Empty: the code for people who are screened out."),
            "stopped_code": _("Also for people who withdraw. Empty: they get no code."),
        }

    def __init__(self, *args: Any, most_items: int, counted: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.most_items = most_items
        self.fields["required_items"].help_text = counted
        self.initial["required_items"] = usual_items(most_items)
        self.fields["study_param"].required = self.fields["session_param"].required = False
        vars(self.fields["required_items"]).update(min_value=1)
        for name in ("required_items", "max_participants"):
            self.fields[name].validators.append(_positive)

    def clean_required_items(self) -> int:
        """No more than the round has for one person, who could never finish otherwise."""
        wanted: int = self.cleaned_data["required_items"]
        if not self.most_items:
            raise forms.ValidationError(
                _("The round has nothing to work on yet. Choose its items, or open it first.")
            )
        if wanted > self.most_items:
            text = ngettext(
                "The round has %(most)s item for one person; ask for no more than that.",
                "The round has %(most)s items for one person; ask for no more than that.",
                self.most_items,
            )
            raise forms.ValidationError(text, params={"most": self.most_items})
        return wanted

    def clean(self) -> dict[str, Any]:
        """One code per outcome, one name per parameter."""
        data = super().clean() or {}
        names = (*CODES, "skips_code", "stopped_code")
        codes = [data.get(name) for name in names if data.get(name)]
        if len(set(codes)) < len(codes):
            self.add_error("completed_code", _("Each outcome needs a code of its own."))
        params = [data.get(name) for name in PARAMS if data.get(name)]
        if len(set(params)) < len(params):
            self.add_error("participant_param", _("Each parameter needs a name of its own."))
        return data

    def link_fields(self) -> dict[str, Any]:
        """The cleaned values as fields of a link."""
        fields = dict(self.cleaned_data)
        fields["expires_at"] = timezone.now() + timedelta(days=fields.pop("days"))
        return fields


def usual_items(most_items: int) -> int:
    """How many items a link asks for where nothing else is said."""
    usual: int = ParticipantLink._meta.get_field("required_items").default
    return min(usual, most_items) or usual


def _positive(value: int) -> None:
    if value < 1:
        raise forms.ValidationError(_("At least 1."))
