"""Optional encoders: choice for an analysis, reading of vectors, and download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from argsum.datasets.methods.statements import SAMPLE, language_of
from argsum.datasets.reports.comments import NAMES
from argsum.scorers.methods.encoders import SHIPPED, choose_encoder
from argsum.scorers.models import SHIPPED_MATCH, Scorer
from cqa_site.judging.embedding import EmbeddingsUnavailable, SentenceEmbedder
from cqa_site.judging.encoder_fetching import EncoderNotFetched, fetch_encoder
from cqa_site.judging.encoders import ENCODERS, MULTILINGUAL, MultilingualEmbedder, SentenceEncoder
from cqa_site.people.access import is_administrator, record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, enqueue, refusing
from cqa_site.runs.models import Job

# The encoder of an analysis is chosen once, at its start, so that all workers use the same one.


class EncoderUnavailable(Exception):
    """The encoder cannot be used; the message gives the reason."""


class StatementEmbedder(Protocol):
    """An embedder, which turns texts into vectors of length 1."""

    def encode(self, texts: Any, progress: Any = None) -> Any:
        """Return vectors, shape (n, d)."""
        ...


@dataclass(frozen=True)
class VectorReader:
    """An embedder and its key in the names of files with stored vectors."""

    key: str
    embedder: StatementEmbedder


def installed_encoders() -> list[SentenceEncoder]:
    return [encoder for encoder in ENCODERS.values() if encoder.is_installed]


def encoder_options(
    scorer: Scorer, statements: QuerySet, wanted: str = "", *, is_one_sided: bool = False
) -> dict[str, str]:
    """Return the encoder of a new analysis and the reason for it, for `Analysis.options`.

    Parameters
    ----------
    scorer
        Only the shipped match scorer can use other encoders.
    statements
        Statements of the analysis, in order.
    wanted
        Name of an encoder; if empty, the language of the statements decides.
    is_one_sided
        Whether all statements take the same side of a debate.

    Raises
    ------
    EncoderUnavailable
        If the encoder is unknown or not installed, or does not fit the scorer.
    """
    if scorer.base_model != SHIPPED_MATCH or scorer.folder:
        if wanted in ("", SHIPPED):
            return {}
        raise EncoderUnavailable(
            _("“%s” has its own encoder. Choose the default match scorer to use another one.")
            % scorer.name
        )
    installed = [encoder.name for encoder in installed_encoders()]
    if wanted and wanted not in (SHIPPED, *installed):
        raise EncoderUnavailable(_("Encoder “%s” is not installed.") % wanted)
    language = language_of(statements.values_list("text", flat=True)[:SAMPLE])
    number = statements.count()
    choice = choose_encoder(language, installed, statements=number, is_one_sided=is_one_sided)
    if wanted and wanted != choice.name:
        return {"encoder": wanted, "encoder_reason": "asked"}
    return {"encoder": choice.name, "encoder_reason": choice.reason}


def reader_of(name: str, *, quick: bool = False) -> VectorReader | None:
    """Return the reader of an optional encoder, or None for the match scorer's own encoder.

    ``quick`` is passed to `SentenceEmbedder`. Raises EmbeddingsUnavailable if the encoder is not
    installed.
    """
    if name == SHIPPED:
        return None
    encoder = ENCODERS.get(name)
    if encoder is None or not encoder.is_installed:
        raise EmbeddingsUnavailable(
            _(
                "This analysis uses the encoder “%(title)s”, which is no longer installed. "
                "Install it with %(command)s, or start a new analysis."
            )
            % {
                "title": encoder.title if encoder else name,
                "command": encoder.command if encoder else "make packages",
            }
        )
    if name == MULTILINGUAL:
        return VectorReader(encoder.sha256, MultilingualEmbedder())
    return VectorReader(encoder.sha256, SentenceEmbedder(str(encoder.folder), quick=quick))


# Downloads are jobs of the whole site, because all studies share the folder.

JOB = "fetch_encoder"


@dataclass(frozen=True)
class EncoderState:
    """An encoder with its newest download job, if any."""

    encoder: SentenceEncoder
    job: Job | None

    @property
    def is_installed(self) -> bool:
        """Whether the encoder can be used."""
        return self.encoder.is_installed

    @property
    def languages(self) -> list[str]:
        """Names of the languages that the encoder is used for."""
        return [str(NAMES[code]) for code in self.encoder.languages]

    @property
    def is_fetching(self) -> bool:
        """Whether a download job is waiting or running."""
        return not self.is_installed and self.job is not None and self.job.is_active

    @property
    def error(self) -> str:
        """Reason why the last download failed; otherwise empty."""
        is_over = self.job is not None and not self.job.is_active
        return self.job.error if self.job and is_over and not self.is_installed else ""


def encoder_states() -> list[EncoderState]:
    """Return all optional encoders with their newest downloads, in one query."""
    jobs: dict[str, Job] = {}
    for job in Job.objects.filter(kind=JOB).order_by("pk"):
        jobs[str(job.payload.get("encoder"))] = job
    return [EncoderState(encoder, jobs.get(name)) for name, encoder in ENCODERS.items()]


def request_encoder(*, study: Study, encoder: SentenceEncoder, actor: User) -> Job:
    """Queue the download of an encoder. Raises EncoderUnavailable if it cannot be downloaded."""
    if not is_administrator(actor):
        raise EncoderUnavailable(_("Only site administrators may install encoders."))
    if encoder.is_installed:
        raise EncoderUnavailable(_("%s is installed.") % encoder.title)
    job = enqueue(study=None, kind=JOB, key=encoder.name, actor=actor, encoder=encoder.name)
    record(study=study, actor=actor, verb="encoder_requested", subject=encoder.title)
    return job


def install_encoder(work: JobContext) -> None:
    """Handle a job: download and install an encoder."""
    encoder = ENCODERS[work.payload["encoder"]]
    with refusing((EncoderNotFetched,)):
        fetch_encoder(encoder, work.step)
