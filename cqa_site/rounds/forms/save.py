"""The form that every work page sends: the sheet's fields, and which save it is."""

from typing import Any

from django import forms
from django.http import QueryDict

from ..saving import Sent

# The largest integer that every database stores.
LARGEST = 2**31 - 1


class SaveForm(forms.Form):
    """A sheet as a page sends it; with script the whole form travels as one text.

    The text is what the fields of the form are when it is sent without script, so both are read
    by the same code: a kind's ``read`` gives the content and what is wrong with it.
    """

    # So many characters at most, the longest texts encoded as three bytes of three included.
    longest = 1_000_000

    base_version = forms.IntegerField(min_value=0, max_value=LARGEST)
    client = forms.CharField(max_length=36, required=False)
    sequence = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    active_seconds = forms.IntegerField(min_value=0, max_value=LARGEST, required=False)
    client_key = forms.CharField(max_length=64, required=False)

    def __init__(self, data: QueryDict, sheet: Any) -> None:
        super().__init__(data)
        text = forms.CharField(required=False, strip=False, max_length=self.longest)
        self.fields["text"] = text
        self.wrong: dict[str, str] = {}
        # What is wrong with a part of the content that may be stored as a draft all the same.
        self.unready = ""
        self.content = self.read(self.fields_of(data), sheet)

    def fields_of(self, data: QueryDict) -> QueryDict:
        """The fields of the form, out of the text if they travel as one."""
        return QueryDict(data.get("text", "")[: self.longest]) if "text" in data else data

    def read(self, data: QueryDict, sheet: Any) -> Any:
        """The content of the fields; ``self.wrong`` takes what is wrong, by field."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any] | None:
        """What does not fit the sheet is refused, each with its place."""
        for text in self.wrong.values():
            self.add_error(None, text)
        return super().clean()

    def sent(self) -> Sent:
        """The cleaned fields as the engine takes them."""
        data = self.cleaned_data
        return Sent(
            content=self.content,
            base_version=data["base_version"],
            client=data["client"],
            sequence=data["sequence"] or 0,
            active_seconds=data["active_seconds"] or 0,
        )
