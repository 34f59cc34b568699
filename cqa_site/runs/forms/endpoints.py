"""Forms for endpoints and prompt versions, and for a run's limits and corrections."""

import json
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.judging.endpoint_responses import SCHEMA, TOKEN_LIMITS
from cqa_site.judging.prompts import LONGEST_PART, PromptNotValid, PromptParts, check
from cqa_site.people.models import Study
from cqa_site.tabular.cells import StrictJsonError, loads
from cqa_site.web.pages import offer
from ..actions.corrections import (
    MOST_TOKENS,
    Correction,
    refused_parameter,
    sent_names,
    suggested,
    tight_limit,
)
from ..actions.endpoints import FIELDS, OWN
from ..kinds import prompt_kinds
from ..models import Endpoint, Run
from ..progress import price

# Parameters that the engine sets in every request.
RESERVED = {"model", "messages", "stream", "stream_options", "n", "response_format"}
WHOLE_NUMBERS = (*TOKEN_LIMITS, "seed")
MILLION = 1_000_000
MOST_MONEY = 1_000_000_000
LONGEST_JSON = 20_000
FIELDS_OF = {Endpoint.Kind.EMBEDDED: ("name", "deadline_seconds"), Endpoint.Kind.SHARED: OWN}


class JsonObjectField(forms.CharField):
    """A field for a JSON object with request parameters; empty text means ``{}``."""

    widget = forms.Textarea

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)
        self.widget.attrs |= {"rows": 4, "class": "mono", "spellcheck": "false"}

    def prepare_value(self, value: Any) -> Any:
        """Show a stored object as readable JSON, and typed text unchanged."""
        if isinstance(value, str) or value is None:
            return value
        return json.dumps(value, indent=2, ensure_ascii=False) if value else ""

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare the displayed texts, because the typed text is not parsed yet."""
        return super().has_changed(self.prepare_value(initial), data)

    def clean(self, value: str) -> dict[str, Any]:
        """Parse strictly; reject non-objects and parameters that the engine sets."""
        text = super().clean(value)
        if not text:
            return {}
        try:
            document = loads(text, max_bytes=LONGEST_JSON)
        except StrictJsonError as error:
            raise ValidationError(_("This is not valid JSON: %s.") % error) from None
        if not isinstance(document, dict):
            raise ValidationError(_('Write a JSON object, for example {"top_p": 0.9}.'))
        if conflicts := sorted(RESERVED & set(document)):
            raise ValidationError(_("“%s” is always set by the engine.") % conflicts[0])
        for name in WHOLE_NUMBERS:
            number = document.get(name, 1)
            # In Python, True is an int, but it is not a valid number here.
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValidationError(_("“%s” must be a whole number of 1 or more.") % name)
        return document


class UnitsField(forms.DecimalField):
    """A field for amounts of money, typed in units and stored in millionths."""

    def __init__(self, **kwargs: Any) -> None:
        limits = {"min_value": 0, "max_value": MOST_MONEY, "max_digits": 16, "decimal_places": 6}
        super().__init__(required=False, **limits | kwargs)

    def clean(self, value: Any) -> int | None:
        """Return millionths, or None if the field is empty."""
        units = super().clean(value)
        return None if units is None else int(units * MILLION)


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]  # Django has no ModelForm[…]
    """The settings of an endpoint; its key can be written but never read."""

    key = forms.CharField(
        label=lazy("API key"),
        required=False,
        max_length=2_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "spellcheck": "false"}),
    )
    extra_params = JsonObjectField(
        label=lazy("Extra parameters"),
        help_text=lazy("A JSON object added to every request unchanged."),
    )
    field_order = ("name", "base_url", "model", "key")
    advanced: tuple[str, ...] = (
        "max_in_flight", "requests_per_minute", "tokens_per_minute", "deadline_seconds",
        "extra_params",
    )  # fmt: skip

    class Meta:
        model = Endpoint
        fields = FIELDS
        help_texts = {
            "base_url": lazy(
                "For example https://api.openai.com/v1, or http://localhost:11434/v1 for a model "
                "on this site's machine (Ollama, vLLM, llama.cpp)."
            ),
            "model": lazy("The name of the model on the server."),
            "price_in": lazy("In the currency of your bill; 0 for a model that costs nothing."),
            "max_in_flight": lazy("The engine starts low and finds a good value automatically."),
            "requests_per_minute": lazy("Empty means no limit."),
            "tokens_per_minute": lazy("Empty means no limit."),
        }

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.study = study
        self.fields["base_url"].widget.attrs |= {"inputmode": "url", "spellcheck": "false"}
        # Browsers treat the field before a password as the user name.
        self.fields["model"].widget.attrs["autocomplete"] = "off"
        self.fields["key"].help_text = self._about_key()
        for name in ("price_in", "price_out"):
            self.initial[name] = price(getattr(self.instance, name))
        if own := FIELDS_OF.get(self.instance.kind):
            for name in set(self.fields) - set(own):
                del self.fields[name]
            self.advanced = ()

    def _about_key(self) -> str:
        if self.instance.has_key:
            return _(
                "A key is stored. Leave empty to keep it. Changing the server in the base "
                "address clears the key. It is encrypted and never shown again."
            )
        return _(
            "Leave empty if the server needs no key. The key is encrypted and never shown again."
        )

    def clean_base_url(self) -> str:
        """Reject addresses that have extra parts or to which requests cannot be sent."""
        url: str = self.cleaned_data["base_url"].rstrip("/")
        try:
            parts = urlsplit(url)
            host, _port = parts.hostname, parts.port
        except ValueError:
            raise ValidationError(_("This is not an address.")) from None
        if parts.scheme not in ("https", "http") or not host or len(url.split()) != 1:
            raise ValidationError(_("Enter an address with https:// or http:// and a host name."))
        if parts.username is not None or parts.password is not None:
            raise ValidationError(_("Enter the key in its own field, not in the address."))
        if parts.query or parts.fragment:
            raise ValidationError(_("Remove the ? or # and everything after it."))
        if parts.path.endswith("/chat/completions"):
            raise ValidationError(_("Enter only the part before /chat/completions."))
        return url

    def clean_key(self) -> str:
        """Reject a key that cannot be sent in a header."""
        key: str = self.cleaned_data["key"].strip()
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValidationError(_("A key cannot contain spaces or non-ASCII characters."))
        return key

    def clean_name(self) -> str:
        """Reject a name that another endpoint of the study already has."""
        name: str = self.cleaned_data["name"]
        others = self.instance.study.endpoints.exclude(pk=self.instance.pk)
        if others.filter(name=name).exists():
            raise ValidationError(
                _("Another endpoint of this study, perhaps archived, already has this name.")
            )
        return name

    @property
    def values(self) -> dict[str, Any]:
        """The changed fields, without the key."""
        return {name: value for name, value in self.cleaned_data.items() if name != "key"}


class CapForm(forms.Form):
    cap = UnitsField(label=lazy("Spending cap"), help_text=lazy("Empty means no cap."))

    @classmethod
    def at(cls, cap_micro: int | None) -> "CapForm":
        """Return a form that shows the current cap."""
        return cls(initial={"cap": in_units(cap_micro)})


def in_units(cap_micro: int | None) -> str | None:
    """Format millionths as units, as a person types them; None for no cap."""
    if cap_micro is None:
        return None
    return f"{(Decimal(cap_micro) / MILLION).normalize():f}"


class LimitsForm(CapForm):
    """The limits that can change while a run is active."""

    ceiling = forms.IntegerField(
        label=lazy("Maximum requests in flight"),
        required=False,
        min_value=1,
        max_value=512,
        help_text=lazy("Default: the endpoint's own limit."),
    )

    @classmethod
    def of(cls, run: Run) -> "LimitsForm":
        """Return a form that shows the run's current limits."""
        return cls(initial={"cap": in_units(run.budget.cap_micro), "ceiling": run.ceiling})


class TokenLimitForm(forms.Form):
    """A higher token limit for a run with cut-off replies."""

    limit = forms.IntegerField(label=lazy("Maximum tokens per reply"), max_value=MOST_TOKENS)

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        self.name = tight_limit(run)
        limit = int(run.params.get(self.name) or 0)
        # Twice the limit was already tried.
        first = min(max(4 * limit, run.endpoint.proposed_limit), MOST_TOKENS)
        kwargs.setdefault("initial", {"limit": first})
        super().__init__(*args, **kwargs)
        self.fields["limit"].help_text = _(
            "The limit is now %(now)s, and replies were truncated again at twice that limit."
        ) % {"now": intcomma(limit)}

    @property
    def correction(self) -> Correction:
        return Correction(values={self.name: self.cleaned_data["limit"]})


class CorrectionForm(forms.Form):
    """Changes to a run's requests after its endpoint refused a parameter."""

    token_parameter = forms.ChoiceField(
        label=lazy("Send the token limit as"),
        choices=[(name, name) for name in TOKEN_LIMITS],
        widget=forms.RadioSelect,
    )
    leave_out = forms.MultipleChoiceField(
        label=lazy("Leave out"), required=False, widget=forms.CheckboxSelectMultiple
    )
    value = forms.CharField(
        required=False,
        max_length=200,
        help_text=lazy("A number, or text in quotes. Leave empty to keep the value."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, run: Run, **kwargs: Any) -> None:
        first = suggested(run)
        kwargs.setdefault(
            "initial",
            {"token_parameter": first.token_parameter, "leave_out": list(first.leave_out)},
        )
        super().__init__(*args, **kwargs)
        self.refused = refused_parameter(run)
        sent = run.params | {SCHEMA: lazy("JSON with a schema")}
        names = [(name, f"{name} ({sent[name]})") for name in sent_names(run)]
        offer(self, leave_out=names)
        if not names:
            del self.fields["leave_out"]
        if self.refused in run.params:
            self.fields["value"].label = _("Or send a different value for “%s”") % self.refused
        else:
            del self.fields["value"]

    def clean_value(self) -> Any:
        """Return one JSON value, or None if the field is empty."""
        text = self.cleaned_data["value"]
        try:
            return loads(text) if text else None
        except StrictJsonError as error:
            raise ValidationError(_("This is not valid JSON: %s.") % error) from None

    @property
    def correction(self) -> Correction:
        """The chosen correction; a new value takes precedence over leaving a parameter out."""
        data = self.cleaned_data
        value = data.get("value")
        values = {} if value is None else {self.refused: value}
        names = [name for name in data.get("leave_out", []) if name not in values]
        return Correction(tuple(names), data["token_parameter"], values)


class PromptForm(forms.Form):
    """The text of a prompt version; errors are shown with their part and line."""

    name = forms.CharField(label=lazy("Name"), max_length=120)
    system = forms.CharField(
        label=lazy("System text"),
        required=False,
        max_length=LONGEST_PART,
        help_text=lazy("The same in every request. Leave empty to send no system message."),
        widget=forms.Textarea(attrs={"rows": 18, "class": "mono"}),
    )
    user = forms.CharField(
        label=lazy("User text"),
        max_length=LONGEST_PART,
        help_text=lazy("Put everything that changes between requests at the end."),
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono"}),
    )
    note = forms.CharField(label=lazy("What changed"), required=False, max_length=300)

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.layout = prompt_kinds()[kind].layout

    def clean_system(self) -> str:
        """Normalize line endings, because browsers send each as two characters."""
        return _plain_lines(self.cleaned_data["system"])

    def clean_user(self) -> str:
        """Normalize line endings, because browsers send each as two characters."""
        return _plain_lines(self.cleaned_data["user"])

    def clean(self) -> dict[str, Any]:
        """Report the first error in the template at its field."""
        data = super().clean() or {}
        if "system" in data and "user" in data:
            try:
                check(PromptParts(data["system"], data["user"], self.layout))
            except PromptNotValid as fault:
                self.add_error(fault.part or None, fault_text(fault))
        return data

    @property
    def texts(self) -> dict[str, str]:
        return {name: self.cleaned_data[name] for name in ("name", "system", "user", "note")}


def fault_text(fault: PromptNotValid) -> str:
    """Describe an error in a template, with its line."""
    if fault.line:
        return _("Line %(line)d: %(reason)s.") % {"line": fault.line, "reason": fault.reason}
    return f"{fault.reason}."


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
