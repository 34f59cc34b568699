"""Prompt versions: made, changed while unused, frozen by their first run."""

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now

from cqa_site.judging.prompts import prompt_hash
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.models import PromptVersion


class PromptFrozen(Exception):
    """A run used this version; a change needs a new one."""


@transaction.atomic
def save_prompt(
    *,
    study: Study,
    actor: User | None,
    kind: str,
    name: str,
    system: str,
    user: str,
    note: str = "",
    version: PromptVersion | None = None,
) -> PromptVersion:
    """Change an unused version, or make the next one; equal text gives the version there is."""
    sha256 = prompt_hash(system, user, form=kind)
    if version is not None:
        return _change(version, name=name, system=system, user=user, note=note, sha256=sha256)
    Study.objects.select_for_update().get(pk=study.pk)
    if same := study.prompt_versions.filter(kind=kind, sha256=sha256).first():
        return same
    last = study.prompt_versions.filter(kind=kind).aggregate(last=Max("number"))["last"] or 0
    version = PromptVersion.objects.create(
        study=study,
        kind=kind,
        name=name,
        number=last + 1,
        system=system,
        user=user,
        note=note,
        sha256=sha256,
        created_by=actor,
    )
    if actor:
        record(study=study, actor=actor, verb="prompt_version_created", subject=str(version))
    return version


def freeze(version: PromptVersion) -> None:
    """Make a version unchangeable; what a run used stays what it used."""
    PromptVersion.objects.filter(pk=version.pk, frozen_at=None).update(frozen_at=Now())


def _change(version: PromptVersion, **values: str) -> PromptVersion:
    if PromptVersion.objects.filter(pk=version.pk, frozen_at=None).update(**values) != 1:
        raise PromptFrozen("A run used this version. Save the text as a new version.")
    version.refresh_from_db()
    return version
