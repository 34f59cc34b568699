"""The form of a prompt version."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.judging.prompts import LONGEST_PART, PromptNotValid, PromptParts, check
from cqa_site.runs.kinds import prompt_kinds


class PromptForm(forms.Form):
    """The text of a prompt version; faults are shown at their part and line."""

    name = forms.CharField(label=lazy("Name"), max_length=120)
    system = forms.CharField(
        label=lazy("System text"),
        required=False,
        max_length=LONGEST_PART,
        help_text=lazy("The same in every request. Empty sends no system message."),
        widget=forms.Textarea(attrs={"rows": 18, "class": "mono"}),
    )
    user = forms.CharField(
        label=lazy("User text"),
        max_length=LONGEST_PART,
        help_text=lazy("Ends with what changes from request to request."),
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono"}),
    )
    note = forms.CharField(label=lazy("What changed"), required=False, max_length=300)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.layout = prompt_kinds()[kind].layout

    def clean_system(self) -> str:
        """Line ends as everywhere else: browsers send two characters for one."""
        return _plain_lines(self.cleaned_data["system"])

    def clean_user(self) -> str:
        """Line ends as everywhere else: browsers send two characters for one."""
        return _plain_lines(self.cleaned_data["user"])

    def clean(self) -> dict[str, Any]:
        """Put the first fault of the template at its field."""
        data = super().clean() or {}
        if "system" in data and "user" in data:
            try:
                check(PromptParts(data["system"], data["user"], self.layout))
            except PromptNotValid as fault:
                self.add_error(fault.part or None, fault_text(fault))
        return data

    @property
    def texts(self) -> dict[str, str]:
        """Name, texts and note."""
        return {name: self.cleaned_data[name] for name in ("name", "system", "user", "note")}


def fault_text(fault: PromptNotValid) -> str:
    """A fault of a template with its line."""
    if fault.line:
        return _("Line %(line)d: %(reason)s.") % {"line": fault.line, "reason": fault.reason}
    return f"{fault.reason}."


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
