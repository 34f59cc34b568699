"""Files of an archive, taken in group by group; the archive stays until it is discarded."""

from contextlib import ExitStack
from typing import Any
from uuid import UUID

from django.core.files.base import File
from django.db import transaction

from cqa_site.files.formats import format_of
from cqa_site.files.models import ImportBatch, ImportFile
from cqa_site.files.options import asked_with_uploads
from cqa_site.people.models import User
from cqa_site.tabular import printable_name
from cqa_site.tabular.archives import place_in, unpacked

from .batches import store_batch
from .files import FITS, INSIDE, store_upload, stored_path

Taken = ImportBatch | ImportFile


class NoSuchGroup(Exception):
    """The archive has no group of this number, or is taken for something else by now."""


@transaction.atomic
def take_group(*, archive: ImportFile, number: int, actor: User | None) -> tuple[Taken, bool]:
    """Files of a group beside the archive, each to be imported by itself, and whether just now.

    Raises NoSuchGroup, UnreadableFile, and TooLarge above the limit of one upload.
    """
    held = ImportFile.objects.select_for_update(of=("self",)).get(pk=archive.pk)
    groups = held.options.get(INSIDE, {}).get("groups", [])
    if held.state != ImportFile.State.UPLOADED or number >= len(groups):
        raise NoSuchGroup
    group = groups[number]
    if found := taken_from(held, [group]).get(group.get("taken", "")):
        return found, False
    made = _stored(held, group, actor)
    group["taken"] = str(made.public_id)
    held.save(update_fields=["options"])
    return made, True


def taken_from(archive: ImportFile, groups: list[dict[str, Any]]) -> dict[str, Taken]:
    """What was made of the groups and not discarded since, by what they say was ``taken``."""
    ids = [UUID(each["taken"]) for each in groups if "taken" in each]
    mine = {"public_id__in": ids, "study": archive.study_id}
    models = (ImportFile, ImportBatch) if ids else ()
    found = [row for model in models for row in model.objects.filter(**mine)]
    return {str(row.public_id): row for row in found}


def archive_of(taken: Taken) -> ImportFile | None:
    """The archive that this was taken out of, while it is there."""
    mine = str(taken.public_id)
    archives = ImportFile.objects.filter(
        study=taken.study_id, state=ImportFile.State.UPLOADED, options__has_key=INSIDE
    )
    for archive in archives:
        groups = archive.options[INSIDE].get("groups", [])
        if any(each.get("taken") == mine for each in groups):
            return archive
    return None


def _stored(archive: ImportFile, group: dict[str, Any], actor: User | None) -> Taken:
    asked = {each.name for each in asked_with_uploads()}
    said = {name: value for name, value in archive.options.items() if name in asked and value}
    options = {**format_of(group["kind"]).of_folder(group["folder"]), **said}
    about: dict[str, Any] = {"study": archive.study, "kind": group["kind"], "actor": actor}
    path, wanted = stored_path(archive), set(group["files"])
    with (
        unpacked(path, name=archive.name, is_wanted=wanted.__contains__, called=place_in) as found,
        ExitStack() as opened,
    ):
        files = [
            File(opened.enter_context(found[place].open("rb")), name=printable_name(place))
            for place in group["files"]
        ]
        if len(files) > 1 and format_of(group["kind"]).is_many:
            return store_batch(files=files, options=options, **about)
        (file,) = files
        options |= {FITS: {group["kind"]: group["reason"]}}
        name = file.name or ""
        return store_upload(name=name, chunks=file.chunks(), options=options, **about)
