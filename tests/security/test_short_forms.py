"""A form shows what somebody has to decide; what has a usual value is one step away."""

import pytest
from django.urls import reverse
from lxml import html

from annotation.labelling.forms import LabelRoundForm
from cqa_site.web.templatetags.pages import advanced
from tests.cast import sign_in
from tests.flat import flat
from .matrix import STUDY_ROUTES

pytestmark = pytest.mark.django_db

MOST = 8
# A field for each criterion, level or key point.
AS_MANY_AS_THERE_ARE = {
    *("guideline_new", "score_trial", "round_example", "count_trial", "round_control")
}


@pytest.fixture
def admin(own):
    return sign_in(own.people["d"])


def in_sight(form):
    """Fields of a form by name, but for those in something folded inside it."""
    found = {}
    for field in form.xpath(".//input | .//select | .//textarea"):
        folds = [each for each in field.iterancestors("details") if form in each.iterancestors()]
        is_folded = any(each.get("open") is None for each in folds)
        if field.get("type") != "hidden" and field.get("hidden") is None and not is_folded:
            found[field.get("name")] = field
    return found


@pytest.fixture(scope="module")
def forms(opened):
    """Forms of a study's pages by name, but for sheets, which ask as much as there is to say."""
    return {
        name: html.fromstring(reply.body).xpath("//main//form")
        for name, reply in sorted(opened.items())
        if "d" in STUDY_ROUTES[name].roles and reply.body.startswith(b"<!doctype")
    }


def test_no_form_opens_with_more_than_eight_fields(forms):
    long, seen = [], 0
    for name in {*forms} - AS_MANY_AS_THERE_ARE:
        for form in forms[name]:
            fields = in_sight(form)
            if name.endswith("_edit"):
                # A draft shows which of its settings are not the usual ones.
                for field in form.xpath(".//details[contains(@class, 'advanced')]//*[@name]"):
                    fields.pop(field.get("name"), None)
            seen += len(fields) > 3
            long += [(name, list(fields))] if len(fields) > MOST else []
    assert long == []
    assert seen > 20


def is_empty(field):
    """Whether somebody has to fill in a field before a browser sends it."""
    if field.tag == "select":
        chosen = field.xpath(".//option[@selected]") or field.xpath(".//option")
        return not (chosen and chosen[0].get("value"))
    return not (field.text if field.tag == "textarea" else field.get("value"))


def test_what_has_to_be_filled_in_is_never_folded(forms):
    """A browser refuses such a form and cannot show where."""
    hidden, seen = [], 0
    for name in forms:
        for form in forms[name]:
            for field in form.xpath(".//details[not(@open)]//*[@required]"):
                seen += 1
                hidden += [(name, field.get("name"))] if is_empty(field) else []
    assert hidden == []
    assert seen > 20


def round_form(reply):
    return html.fromstring(reply.content).xpath("//form[contains(@class, 'round')]")[0]


def test_a_fault_or_a_change_in_what_is_folded_opens_it(own, admin):
    page = reverse("label_round_new", kwargs=own.kwargs("label_round_new"))
    form = round_form(admin.get(page))
    assert "seed" not in in_sight(form)
    assert "Advanced" in flat(html.tostring(form).decode())
    usual = dict(form.form_values())
    for given in ({}, {"lease_minutes": "0"}, {"block_size": "7"}):
        # Without a name it comes back, whatever else was given.
        again = admin.post(page, usual | {"name": ""} | given | {"then": "draft"})
        assert ("seed" in in_sight(round_form(again))) == bool(given), given


def test_a_draft_says_which_setting_is_its_own(own, admin):
    """Beside the seed, which each round draws; nothing is folded that somebody chose."""
    rows = type(own.rows.draft).objects.filter(pk=own.rows.draft.pk)
    page = reverse("label_round_edit", kwargs=own.kwargs("label_round_edit"))
    names = ("block_size", "lease_minutes", "skip_share")
    usual = {name: LabelRoundForm.base_fields[name].initial for name in names}
    rows.update(**usual, seed=77, shows_guideline=True)
    assert "seed" not in in_sight(round_form(admin.get(page)))
    rows.update(lease_minutes=60)
    form = round_form(admin.get(page))
    assert "seed" in in_sight(form)
    said = flat(form.xpath(".//details[@class='advanced ']/summary")[0].text_content()).strip()
    assert said.endswith("Changed from the default: Reservation time in minutes")


def test_a_fault_at_a_folded_field_that_nobody_changed_opens_it(own):
    form = LabelRoundForm({"seed": "1"}, study=own.study, initial={"seed": 1})
    form.advanced = ("seed",)
    assert advanced(form)["unusual"] == []
    form.add_error("seed", "It does not fit the other fields.")
    assert [field.name for field in advanced(form)["unusual"]] == ["seed"]
