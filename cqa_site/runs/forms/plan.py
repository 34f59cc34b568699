"""The fields of every kind of run: endpoint, prompt, parameters, safeguards, name and webhook."""

from copy import deepcopy
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Case, Model, Q, When
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.corrections import MOST_TOKENS
from cqa_site.runs.actions.endpoints import first_prompts
from cqa_site.runs.actions.runs import MOST_REPLICATES, RunPlan
from cqa_site.runs.forms.endpoints import JsonObjectField, UnitsField
from cqa_site.runs.kinds import prompt_kinds
from cqa_site.runs.ledger.gates import KeyUnreadable, seal, unseal
from cqa_site.runs.models import Endpoint, PromptVersion, Run
from cqa_site.web.pages import offer

SHORTEST_SECRET = 16
# Sort endpoints last that have never answered; see `Endpoint.is_known`.
LAST_UNKNOWN = Case(When(~Q(kind=Endpoint.Kind.EMBEDDED), probed_at=None, then=1), default=0)


class RunPlanForm(forms.Form):
    """A person's choices for a run, except its target.

    A subclass sets the ``kind`` of run and its ``prompt_kinds``, and defines ``target``.
    """

    kind = ""
    prompt_kinds: tuple[str, ...] = ()
    # The kind's field for which the value "sample" requires a size.
    chosen_by = "choice"
    # Folded, because all these fields are optional; see `cqa_site.web.templatetags.pages`.
    advanced: tuple[str, ...] = (
        "temperature", "max_tokens", "seed", "sends_seed", "extra", "reuse", "ceiling", "mode",
        "name", "webhook_url", "webhook_secret",
    )  # fmt: skip
    # Fields that a page hides, because there is nothing to choose yet.
    unoffered: tuple[str, ...] = ()

    endpoint: "forms.ModelChoiceField[Endpoint]" = forms.ModelChoiceField(
        label=lazy("Endpoint"), queryset=None, empty_label=None
    )
    prompt: "forms.ModelChoiceField[PromptVersion]" = forms.ModelChoiceField(
        label=lazy("Prompt"), queryset=None, empty_label=None
    )
    sample = forms.IntegerField(
        label=lazy("Sample size"),
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text=lazy("Only for a random sample."),
    )
    temperature = forms.FloatField(
        label=lazy("Temperature"),
        required=False,
        initial=0,
        min_value=0,
        max_value=2,
        help_text=lazy("Leave empty for the default of the endpoint."),
    )
    max_tokens = forms.IntegerField(
        label=lazy("Maximum tokens per reply"),
        required=False,
        initial=400,
        min_value=1,
        max_value=MOST_TOKENS,
        help_text=lazy(
            "About 100 for each sentence in a request, more for models that reason. A truncated "
            "reply is requested once more with twice as many tokens."
        ),
    )
    seed = forms.IntegerField(
        label=lazy("Seed"),
        initial=1,
        min_value=0,
        max_value=2**31 - 1 - MOST_REPLICATES,
        help_text=lazy("Determines the sample and the pre-flight requests."),
    )
    sends_seed = forms.BooleanField(
        label=lazy("Also send the seed to the model"), required=False, initial=True
    )
    extra = JsonObjectField(
        label=lazy("Extra parameters"),
        help_text=lazy('A JSON object added to every request, for example {"top_p": 0.9}.'),
    )
    replicates = forms.IntegerField(
        label=lazy("Answers per sentence"),
        initial=1,
        min_value=1,
        max_value=MOST_REPLICATES,
        help_text=lazy("Several answers show how well the judge agrees with itself."),
    )
    preflight = forms.ChoiceField(
        label=lazy("Pre-flight"),
        choices=[
            ("ask", lazy("Send up to 20 requests, then wait for my decision")),
            (
                "auto",
                lazy("Send up to 20 requests; continue if the replies look right, otherwise wait"),
            ),
            ("off", lazy("Send everything at once")),
        ],
        initial="ask",
        widget=forms.RadioSelect,
    )
    mode = forms.ChoiceField(
        label=lazy("Sending mode"),
        choices=Run.Mode,
        initial=Run.Mode.LIVE,
        widget=forms.RadioSelect,
        help_text=lazy(
            "Batch services cost less, but only some providers have one. The pre-flight is always "
            "sent one by one. To see the batch price here, enter it in the endpoint's settings."
        ),
    )
    cap = UnitsField(
        label=lazy("Spending cap"),
        help_text=lazy("In the currency of the prices. The run pauses before it exceeds the cap."),
    )
    ceiling = forms.IntegerField(
        label=lazy("Maximum requests in flight"),
        required=False,
        min_value=1,
        max_value=512,
        help_text=lazy("Default: the endpoint's own limit."),
    )
    reuse = forms.BooleanField(
        label=lazy("Answer identical requests from stored replies"),
        required=False,
        initial=True,
        help_text=lazy("Stored replies cost nothing. Clear this box to ask the judge again."),
    )
    name = forms.CharField(label=lazy("Name"), required=False, max_length=200)
    webhook_url = forms.CharField(
        label=lazy("Notify this address when the run ends"),
        required=False,
        max_length=500,
        help_text=lazy("Sends a signed message with numbers and ids, without any judged text."),
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off"}),
    )
    webhook_secret = forms.CharField(
        label=lazy("Secret that signs the message"),
        required=False,
        max_length=200,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=lazy("At least 16 characters. The secret is encrypted and never shown."),
    )
    # Passes the encrypted secret through the confirmation page, so that nobody can read it.
    webhook_sealed = forms.CharField(required=False, max_length=1_000, widget=forms.HiddenInput)

    def __init__(self, *args: Any, study: Study, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        first_prompts(study, {kind: prompt_kinds()[kind] for kind in self.prompt_kinds}, actor)
        prompts = study.prompt_versions.filter(kind__in=self.prompt_kinds)
        endpoints = study.endpoints.filter(is_archived=False).select_related("original")
        # The default is the first: known to answer if possible, servers before the built-in model.
        offer(self, endpoint=endpoints.order_by(LAST_UNKNOWN, "-kind", "name", "pk"))
        offer(self, prompt=prompts.order_by("-kind", "-number"))
        for name, label in (("endpoint", endpoint_label), ("prompt", prompt_label)):
            vars(self.fields[name]).update(label_from_instance=label)

    def clean_extra(self) -> dict[str, Any]:
        """Reject parameters that have their own field."""
        extra: dict[str, Any] = self.cleaned_data["extra"]
        for name in ("temperature", "max_tokens", "seed"):
            if name in extra:
                raise ValidationError(_("“%s” has its own field.") % name)
        return extra

    def clean_webhook_url(self) -> str:
        """Reject an address that is neither empty nor an http(s) address with a host name."""
        url: str = self.cleaned_data["webhook_url"]
        parts = urlsplit(url) if url else None
        if parts and (parts.scheme not in ("https", "http") or not parts.hostname):
            raise ValidationError(_("Enter an address with https:// or http:// and a host name."))
        return url

    def clean(self) -> dict[str, Any]:
        """Check combinations of fields."""
        data = super().clean() or {}
        limits = data.get("extra", {}) | {"max_tokens": data.get("max_tokens")}
        if "max_tokens" not in self.errors and not any(limits.get(name) for name in TOKEN_LIMITS):
            self.complain("max_tokens", _("Without a limit, the cost is not bounded."))
        chosen = several(data.get("endpoint"))
        is_embedded = any(endpoint.kind == Endpoint.Kind.EMBEDDED for endpoint in chosen)
        if data.get("mode") == Run.Mode.BATCH and is_embedded:
            self.complain("mode", _("The built-in model has no batch service."))
        if data.get("webhook_url"):
            self._clean_secret(data)
        if data.get(self.chosen_by) == "sample" and not data.get("sample"):
            self.complain("sample", _("Enter the sample size."))
        return data

    @property
    def tokens_wanted(self) -> int | None:
        """A sufficient token limit if the chosen limit is too low; otherwise None."""
        return None

    @property
    def target(self) -> dict[str, Any]:
        """The target of the run, as stored in its spec."""
        raise NotImplementedError

    @property
    def plan(self) -> RunPlan:
        data = self.cleaned_data
        return self.plan_for(data["endpoint"], data["prompt"], self.target)

    def plan_for(
        self, endpoint: Endpoint, prompt: PromptVersion, target: dict[str, Any]
    ) -> RunPlan:
        data = self.cleaned_data
        sent = {
            name: data[name] for name in ("temperature", "max_tokens") if data[name] is not None
        }
        if data["sends_seed"]:
            sent["seed"] = data["seed"]
        return RunPlan(
            kind=self.kind,
            endpoint=endpoint,
            prompt=prompt,
            target=target,
            params=sent | data["extra"],
            replicates=data["replicates"],
            cap_micro=data["cap"],
            reuse=data["reuse"],
            preflight=data["preflight"],
            seed=data["seed"],
            ceiling=data["ceiling"],
            name=data["name"],
            mode=data["mode"],
            webhook_url=data["webhook_url"],
            webhook_secret=data["webhook_secret"] if data["webhook_url"] else "",
        )

    def _clean_secret(self, data: dict[str, Any]) -> None:
        if not data.get("webhook_secret") and data.get("webhook_sealed"):
            try:
                data["webhook_secret"] = unseal(data["webhook_sealed"].encode())
            except KeyUnreadable:
                self.complain("webhook_secret", _("Type the secret again."))
        if len(data.get("webhook_secret", "")) < SHORTEST_SECRET:
            self.complain("webhook_secret", _("Enter a secret of at least 16 characters."))

    def complain(self, field: str, text: str) -> None:
        """Add an error to a field, unless it already has an error."""
        if field not in self.errors:
            self.add_error(field, text)

    @property
    def sealed_secret(self) -> str:
        """The encrypted secret for the confirmation page; empty if there is no secret."""
        secret = self.cleaned_data["webhook_secret"]
        return seal(secret).decode() if self.cleaned_data["webhook_url"] and secret else ""


def differing(name: str, **attributes: Any) -> Any:
    """Copy a shared run field with a kind's own label, initial value or help text."""
    field = deepcopy(RunPlanForm.base_fields[name])
    vars(field).update(attributes)
    return field


def several(chosen: Any) -> list[Any]:
    """Return a field's chosen objects as a list, even if it accepts only one."""
    if chosen is None:
        return []
    return [chosen] if isinstance(chosen, Model) else list(chosen)


def prompt_label(version: PromptVersion) -> str:
    """Format a prompt version for a choice list."""
    return f"{prompt_kinds()[version.kind].name} · v{version.number} · {version.name}"


def endpoint_label(endpoint: Endpoint) -> str:
    """Format an endpoint for a choice list."""
    label = f"{endpoint.name} · {endpoint.model}"
    if endpoint.is_withdrawn:
        return _("%s (no longer offered to this study)") % label
    if not endpoint.is_known:
        return _("%s (no successful probe yet)") % label
    if endpoint.kind == Endpoint.Kind.EMBEDDED:
        return _("%s (demonstration: answers at chance level)") % label
    return label
