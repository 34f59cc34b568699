"""Forms for corpora, the CAM service, and searches for arguments."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.corpus.models import Comparison
from annotation.retrieval.actions import arguments
from annotation.retrieval.methods.cam import MOST_ASPECTS, PLACEHOLDERS, unknown_placeholders
from annotation.retrieval.methods.corpus import NothingToSearch, Query, build_query, words_of
from annotation.retrieval.models import Corpus
from cqa_site.people.models import Study
from cqa_site.tabular.detection import ACCEPTED
from cqa_site.web.pages import offer

LONGEST_ASPECT = 100


class CorpusForm(forms.Form):
    name = forms.CharField(label=lazy("Name"), max_length=120)
    file = forms.FileField(label=lazy("File"), max_length=255)

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = _(
            "A text file (.txt) with one sentence per line, or CSV, TSV, JSON Lines or JSON with "
            "a column of sentences; up to %s."
        ) % filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.fields["file"].widget.attrs["accept"] = ".txt,.csv,.tsv,.jsonl,.ndjson,.json,.xlsx"

    def refuse_size(self) -> None:
        """Report that the file is too large."""
        limit = filesizeformat(settings.MAX_UPLOAD_BYTES)
        self.add_error("file", _("The limit is %s. Split this file.") % limit)


class CorpusColumnsForm(forms.Form):
    """Form for the sentence and address columns of a table."""

    text = forms.ChoiceField(label=lazy("Sentence"))
    url = forms.ChoiceField(label=lazy("Source address"), required=False)
    encoding = forms.ChoiceField(
        label=lazy("Encoding"),
        required=False,
        choices=[("", lazy("Recognize")), *((name, name) for name in ACCEPTED)],
    )

    def __init__(self, *args, columns: Sequence[str], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        choices = [(name, name) for name in columns]
        offer(self, text=[("", lazy("Choose")), *choices], url=[("", lazy("None")), *choices])
        if not columns:  # a text file, or a file that could not be opened
            del self.fields["text"], self.fields["url"]

    def clean(self) -> dict:
        """Require different columns for sentence and address."""
        data = super().clean() or {}
        if data.get("text") and data.get("text") == data.get("url"):
            self.add_error("url", _("The sentence itself is in this column."))
        return data


class ServiceForm(forms.Form):
    address = forms.CharField(
        label=lazy("Address"),
        required=False,
        max_length=500,
        widget=forms.URLInput(attrs={"spellcheck": "false", "placeholder": "https://"}),
    )

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["address"].help_text = _(
            "The part before the question mark, for example https://cam.example/cam-api. If "
            "the objects belong in the path, write %s there. Plain http works only on this "
            "machine, or if the operator lists the server in EGRESS_ALLOW."
        ) % ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)

    def clean_address(self) -> str:
        """Require a valid address; placeholders must be known and occur only in its path."""
        address = self.cleaned_data["address"].strip()
        if not address:
            return ""
        try:
            parts = urlsplit(address)
            host, _port = parts.hostname, parts.port
        except ValueError:
            raise ValidationError(_("This is not an address.")) from None
        if parts.scheme not in ("https", "http") or not host or len(address.split()) != 1:
            raise ValidationError(_("Enter an address with https:// or http:// and a host name."))
        if parts.username is not None or parts.password is not None or "{" in parts.netloc:
            raise ValidationError(
                _("Before the path, enter a host without a user name, password or placeholder.")
            )
        if parts.query or parts.fragment:
            raise ValidationError(_("Remove the ? or # and everything after it."))
        if unknown := unknown_placeholders(parts.path):
            raise ValidationError(_("Unknown placeholder {%s}.") % unknown[0])
        return address


class ComparisonForm(forms.ModelForm):
    """Form for the two objects, new or already in the study, about which to find arguments."""

    class Meta:
        model = Comparison
        fields = ["object1", "object2"]

    def clean(self) -> dict:
        """Require two different objects, ignoring surrounding white space."""
        data = super().clean() or {}
        if data.get("object1") and data.get("object1") == data.get("object2"):
            self.add_error("object2", _("Enter two different objects."))
        return data


class SearchForm(forms.Form):
    """Form for a search of the corpora in a study."""

    corpus = forms.ModelChoiceField(
        label=lazy("Corpus"),
        required=False,
        queryset=Corpus.objects.none(),
        to_field_name="public_id",
        empty_label=lazy("All"),
    )
    words = forms.ChoiceField(
        label=lazy("For each object, sentences contain"),
        required=False,
        choices=[("", lazy("the whole name")), ("any", lazy("any word in its name"))],
    )
    aspect = forms.CharField(
        label=lazy("Also a word from the aspect"), required=False, max_length=LONGEST_ASPECT
    )
    most = forms.IntegerField(
        label=lazy("Maximum results"), required=False, min_value=1, max_value=arguments.MOST_HITS
    )

    def __init__(self, *args, study: Study, comparison: Comparison, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.study, self.comparison = study, comparison
        self.query: Query
        offer(self, corpus=ready_corpora(study))
        self.fields["most"].widget.attrs["placeholder"] = "50"

    def clean_aspect(self) -> str:
        """Require at least one word in the aspect, if given."""
        aspect = self.cleaned_data["aspect"]
        if aspect and not words_of(aspect):
            raise ValidationError(_("Enter at least one letter or digit."))
        return aspect

    def clean_most(self) -> int:
        """Return the requested number, by default fifty."""
        return self.cleaned_data["most"] or 50

    def clean(self) -> dict:
        """Build the query; reject names without letters or digits."""
        data = super().clean() or {}
        if self.errors:
            return data
        try:
            self.query = build_query(
                self.comparison.object1,
                self.comparison.object2,
                aspect=data["aspect"],
                any_word=data["words"] == "any",
            )
        except NothingToSearch as reason:
            raise ValidationError(str(reason)[:1].upper() + str(reason)[1:] + ".") from None
        return data

    def corpora(self) -> list[Corpus]:
        """Return the chosen corpus, or all corpora that are ready."""
        chosen = self.cleaned_data["corpus"]
        return [chosen] if chosen else list(ready_corpora(self.study))


class CamForm(forms.Form):
    """Form for a request to a CAM service about a comparison."""

    aspects = forms.CharField(
        label=lazy("Aspects"),
        required=False,
        max_length=MOST_ASPECTS * (LONGEST_ASPECT + 1),
        help_text=lazy("Up to five, separated by commas. Sentences about them score higher."),
    )
    weight = forms.IntegerField(
        label=lazy("Weight of the aspects"), min_value=1, max_value=5, initial=3
    )
    most = forms.IntegerField(
        label=lazy("Sentences per object"),
        min_value=1,
        max_value=arguments.MOST_CAM_SENTENCES,
        initial=10,
    )

    def clean_aspects(self) -> list[str]:
        """Return the aspects without duplicates."""
        parts = (" ".join(part.split()) for part in self.cleaned_data["aspects"].split(","))
        aspects = list(dict.fromkeys(part for part in parts if part))
        if len(aspects) > MOST_ASPECTS or any(len(part) > LONGEST_ASPECT for part in aspects):
            raise ValidationError(
                _("At most %(most)s aspects of up to %(long)s characters.")
                % {"most": MOST_ASPECTS, "long": LONGEST_ASPECT}
            )
        return aspects


def ready_corpora(study: Study):
    """Return the searchable corpora."""
    return study.corpora.filter(state=Corpus.State.READY, deleted_at__isnull=True)
