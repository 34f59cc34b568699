"""Prompts that come with the project: they become version 1 when first asked for."""

from collections.abc import Mapping
from pathlib import Path

from django.db.models import OuterRef, Subquery

from cqa_site.judging.prompts import load_prompt_file
from cqa_site.people.models import Study, User
from cqa_site.runs.actions.prompts import save_prompt
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.models import PromptVersion


def first_prompts(
    study: Study, kinds: Mapping[str, PromptKind], actor: User | None = None
) -> list[PromptVersion]:
    """The newest prompt of each kind, in order; the project's own text becomes the first one."""
    same = PromptVersion.objects.filter(study=OuterRef("study"), kind=OuterRef("kind"))
    newest = Subquery(same.order_by("-number").values("pk")[:1])
    rows = study.prompt_versions.filter(kind__in=kinds, pk=newest)
    found = {version.kind: version for version in rows}
    return [found.get(kind) or _first(study, kind, kinds[kind].file, actor) for kind in kinds]


def _first(study: Study, kind: str, path: Path, actor: User | None) -> PromptVersion:
    file = load_prompt_file(path)
    return save_prompt(
        study=study,
        actor=actor,
        kind=kind,
        name=file.name[:1].upper() + file.name[1:],
        system=file.parts.system,
        user=file.parts.user,
    )
