"""What the platform asks of a format: one that belongs to no paper goes all the way."""

from dataclasses import dataclass

import pytest

from cqa_site.files import counted, formats
from cqa_site.files.actions.files import store_upload
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.actions.rows import Entry, Flag
from cqa_site.files.actions.running import apply_import, check_import
from cqa_site.people.models import Rater
from tests import cast

pytestmark = pytest.mark.django_db


@dataclass(frozen=True, slots=True)
class Named(Entry):
    """A line with the name of somebody."""

    name: str


def read_names(source):
    for number, name in enumerate(source.path.read_text().splitlines(), start=1):
        yield Named(number, name) if name else Flag(number, "name", "is empty", True, "names")


class NameReconciliation(Reconciliation):
    """Makes raters of names."""

    def compare(self, entries):
        known = set(Rater.objects.filter(study=self.study).values_list("name", flat=True))
        for entry in entries:
            self.result("names", "same" if entry.name in known else "new")
            if self.write and entry.name not in known:
                Rater.objects.create(study=self.study, name=entry.name, external_id=entry.name)


@pytest.fixture
def names(monkeypatch, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(formats, "FORMATS", {})
    monkeypatch.setattr(counted, "COUNTED", {})
    counted.register_counted(counted.Counted("names", "Names"))
    formats.register_format(formats.Format("names", "Names", read_names, NameReconciliation))


def test_a_format_of_no_paper_is_looked_at_and_imported(names):
    study = cast.make_study()
    before = Rater.objects.count()
    file = store_upload(
        study=study, kind="names", name="n.txt", chunks=[b"Ada\n\nBob\n"], actor=None
    )
    check_import(import_file=file)
    assert (file.state, Rater.objects.count()) == ("checked", before)
    assert file.counts == {"names": {"new": 2, "same": 0, "changed": 0, "rejected": 1}}
    assert apply_import(import_file=file) is None
    assert file.refusal == "1 row is rejected, so nothing was imported."
    apply_import(import_file=file, leave_out_rejected=True)
    assert (file.state, Rater.objects.count()) == ("applied", before + 2)


def test_kinds_are_those_that_are_registered(names):
    assert formats.known_kinds() == [("names", "Names")]
    assert formats.batch_kinds() == []
    with pytest.raises(KeyError):
        formats.format_of("toloka")
