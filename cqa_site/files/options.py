"""What readers may be told beside the file: declared once for page, interface and command."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from rest_framework import serializers


@dataclass(frozen=True, slots=True)
class Option:
    """A text of so many characters, or one of ``choices``; blank leaves it to the reader.

    One with a ``label`` is asked for with the upload, and ``title`` names it where something else
    says what it is about. One that ``is_shared`` can be said of all files of a batch. ``tells`` is
    the type of what a format says of it about each file (see `Format.told`).
    """

    name: str
    longest: int = 0
    choices: Sequence[tuple[int, Any]] = ()
    label: Any = ""
    title: Any = ""
    help_text: Any = ""
    hint: str = ""
    is_shared: bool = False
    tells: type | None = None
    # Its word on the command line, where that is another one than the interface's.
    flag: str = ""

    def field(self, *, is_short: bool = False) -> forms.Field:
        """As a form asks for it."""
        about = {
            "label": self.title if is_short else self.label,
            "help_text": "" if is_short else self.help_text,
            "required": False,
        }
        if not self.choices:
            return forms.CharField(max_length=self.longest, **about)
        choices = [("", _("As kind and name of the file say")), *self.choices]
        return forms.TypedChoiceField(choices=choices, coerce=int, empty_value=None, **about)

    def input(self) -> "serializers.Field":
        """As the interface takes it."""
        from rest_framework import serializers

        if self.choices:
            return serializers.ChoiceField(
                self.choices, allow_null=True, required=False, default=None, help_text=self.hint
            )
        return serializers.CharField(
            max_length=self.longest, allow_blank=True, default="", help_text=self.hint
        )

    def add_to(self, parser: "ArgumentParser") -> None:
        """As the command line takes it."""
        flag = f"--{self.flag or self.name}"
        about: dict[str, Any] = {"dest": self.name, "help": self.hint}
        if self.choices:
            values = [value for value, _name in self.choices]
            parser.add_argument(flag, type=int, choices=values, **about)
        else:
            parser.add_argument(flag, default="", metavar=flag[2:].upper(), **about)

    def output(self) -> "serializers.Field":
        """As the interface tells it of a file; null where a file has nothing of the kind."""
        from rest_framework import serializers

        fields: dict[type | None, type[serializers.Field]] = {
            int: serializers.IntegerField,
            UUID: serializers.UUIDField,
        }
        field = fields.get(self.tells, serializers.CharField)
        about: dict[str, Any] = {"source": f"told.{self.name}", "help_text": self.hint}
        return field(allow_null=True, default=None, **about)


OPTIONS: dict[str, Option] = {}


def register_options(*found: Option) -> None:
    """Make options known; the same one may be named by several apps."""
    OPTIONS.update({each.name: each for each in found})


def asked_with_uploads(*, of_batches: bool = False) -> list[Option]:
    """What the upload page asks for, or only what can be said of many files at once."""
    return [each for each in OPTIONS.values() if each.label and (each.is_shared or not of_batches)]


class OptionsForm(forms.Form):
    """Some options, by their short names where a heading says what they are about."""

    def __init__(
        self, *args: Any, asked: Iterable[Option], is_short: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for option in asked:
            self.fields[option.name] = option.field(is_short=is_short)
