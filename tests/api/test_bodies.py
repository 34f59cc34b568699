"""Bodies nobody should send: refused with a 400, and nothing is worse afterwards."""

import pytest
from django.apps import apps
from rest_framework.parsers import MultiPartParser

from annotation.consensus.api import ConsensusInput
from annotation.consensus.forms import ConsensusForm
from annotation.generation.api import AnswersRunInput
from annotation.generation.forms import GenerationForm
from annotation.judges.api import RunInput
from annotation.judges.forms import RunForm
from annotation.labelling.models import label_rounds_of
from annotation.quality.api import ControlChangeInput
from annotation.quality.forms import ControlChangeForm
from cqa_site.api.studies import InvitationInput, StudyInput
from cqa_site.people.forms import InvitationForm, StudyForm
from cqa_site.runs.api.bodies import EndpointInput, LimitsInput, PromptTextInput
from cqa_site.runs.forms.endpoints import EndpointForm, LimitsForm, PromptForm
from cqa_site.web.limits import StrictJSONParser
from .addresses import ADDRESSES
from .described import fields_of
from .routes import LISTS, NOWHERE, WRITES
from .test_behaviour import base, post

pytestmark = pytest.mark.django_db
MEGABYTE = 1_048_576
SEEDS = {
    "lone surrogate in a value": rb'{"name": "\ud800"}',
    "lone surrogate in a key": rb'{"\udfff": 1}',
    "lone surrogate deep inside": rb'{"levels": [{"name": "\ud83c"}]}',
    "100,000 lists deep": b"[" * 100_000 + b"]" * 100_000,
    "33 lists deep": b'{"name": ' + b"[" * 32 + b"]" * 32 + b"}",
    "NUL in a value": rb'{"name": "a\u0000b"}',
    "NUL in a key": rb'{"a\u0000": 1}',
    "raw NUL byte": b'{"name": "a\x00b"}',
    "NaN": b'{"seed": NaN}',
    "infinity": b'{"seed": -Infinity}',
    "1e999": b'{"seed": 1e999}',
    "5,000 digits": b'{"seed": ' + b"9" * 5_000 + b"}",
    "2 to the 70": b'{"seed": %d}' % 2**70,
    "bytes that are no UTF-8": b'{"name": "\xff\xfe"}',
    "a key twice": b'{"name": "a", "name": "b"}',
    "null": b"null",
    "a list": b"[1, 2]",
    "a text": b'"name"',
    "3 MB": b'{"name": "' + b"x" * (3 * MEGABYTE) + b'"}',
    "30 MB": b'{"name": "' + b"x" * (30 * MEGABYTE) + b'"}',
    "two values": b"{} {}",
    "nothing but white space": b"  ",
    "cut short": b'{"name": "a',
}
# These reach what reads the fields of an address.
WELL_FORMED = ("null", "a list", "a text")
UPLOADS = ("imports", "import_batches", "corpora")
JSON_WRITES = [each for each in WRITES if each.method != "delete" and each.name not in UPLOADS]


def raw(client, route, world, body, content_type="application/json"):
    send = getattr(client, route.method)
    return send(route.url(world), body, content_type=content_type)


def some(route):
    """Each at one address; at half of the others one that is JSON, another one each time."""
    start = sum(str(route).encode())
    if route.name == "label_rounds":
        return SEEDS
    return [] if start % 2 else [WELL_FORMED[start // 2 % len(WELL_FORMED)]]


def all_of_them(route):
    return [name for name in SEEDS if name != "30 MB" or route.name == "label_rounds"]


def test_one_parser_refuses_for_every_address():
    for pattern in ADDRESSES:
        parsers = set(pattern.callback.cls.parser_classes)
        assert parsers <= {StrictJSONParser, MultiPartParser}, pattern.name


@pytest.mark.parametrize("bodies", [some, pytest.param(all_of_them, marks=pytest.mark.long)])
def test_hostile_bodies_are_400_and_the_lists_still_answer(world, callers, subtests, bodies):
    # Nothing is undone between them, and nothing may raise out of a view: the test client would
    # pass that on.
    for route in JSON_WRITES:
        with subtests.test(str(route)):
            for name in bodies(route):
                body = SEEDS[name]
                response = raw(callers[route.caller], route, world, body)
                assert response.status_code == 400, name
                assert response.json()["status"] == 400
                assert b"Traceback" not in response.content
    for each in LISTS if bodies is all_of_them else LISTS[::8]:
        with subtests.test(f"{each} afterwards"):
            assert each.send(callers["researcher"], world).status_code == 200


def test_hostile_uploads_are_400(world, researcher):
    route = next(each for each in WRITES if each.name == "imports")
    mappings = (r'{"a": "\ud800"}', "[1]", "NaN", '{"a": {"b": 1}}', "[" * 9_000, "{")
    others = ({"kind": "exe"}, {"file": "text"}, {"rater_kind": "boss"}, {"label_round": "\0"})
    for change in (*({"mapping": each} for each in mappings), *others):
        body = route.body(world) | change
        response = researcher.post(route.url(world), body, format="multipart")
        assert response.status_code == 400, change
    assert raw(researcher, route, world, b"{}").status_code == 415
    broken = "multipart/form-data; boundary=x"
    assert raw(researcher, route, world, b"--y", broken).status_code == 400
    route = next(each for each in JSON_WRITES if each.name == "label_rounds")
    for content_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded"):
        assert raw(researcher, route, world, b"name=x", content_type).status_code == 415


# What a body may say of all that models hold: never who it is of, and never a state.
TAKEN = """
    address aggregator analysis answer answers argument arguments asks_reason aspect aspects
    base_url batch below block_size body cap_micro ceiling cell checks choice column comment
    comparison comparisons condition conditions content controls_per_block coverage dataset
    deadline_seconds decision derived_from description double_share embedding endpoint endpoints
    examples expected_seconds extra extra_params fallen_accuracy files first format goal grid
    guideline id instructions is_active is_offered is_out is_retired is_unfiltered item key
    key_point key_points kind known label label_round labels leads_to lease_minutes levels
    low_accuracy makes_answers match_scorer max_in_flight members min_control_accuracy mode
    model most name note notes object1 object2 on_fall onboarding only_tied order
    orders_by_uncertainty overlap_raters overlap_share overridden_by pass_mark places points
    position preflight price_in price_out prompt quality quality_scorer questions rater raters
    reason reasons recipe redundancy references relevance repeat_share replicates
    requests_per_minute revision role rows rubric rule sample scenario scorer second seed
    sentences setting share_cap sheet shows_arguments shows_guideline shows_hints size
    skip_share snapshot source split stance statements survey system system_run systems target task
    text texts theme threshold title tokens_per_minute topic user uses_topic usual_accuracy
    values variant verb version votes_per_item webhook_url weight wording writer_model
"""


def every_field() -> set[str]:
    """Names of the fields of every model, as somebody who guesses would send them."""
    apps_with_rows = ("annotation", "benchmark", "argsum", "files", "people", "runs")
    models = [m for name in apps_with_rows for m in apps.get_app_config(name).get_models()]
    return {field.name for model in models for field in model._meta.get_fields()} | {"pk", "id"}


def a_part(names, at):
    """At each second address a fourth of the names, and those that would matter most."""
    some = sorted(names)[at // 2 % 4 :: 4]
    return () if at % 2 else {*some, "id", "pk", "study", "state", "role", "created_by"}


def all_names(names, _at):
    return names


@pytest.mark.parametrize("some", [a_part, pytest.param(all_names, marks=pytest.mark.long)])
def test_fields_that_are_not_declared_are_refused(world, callers, alone, some):
    """The description of an address names no other field, and what it names not is refused."""
    names = every_field()
    for at, route in enumerate(each for each in WRITES if each.method != "delete"):
        with alone(route):
            good = route.body(world) if callable(route.body) else (route.body or {})
            described = fields_of(route)
            assert described & names <= set(TAKEN.split())
            extra = set(some(names, at)) - described - set(good)
            if not extra:
                continue
            response = getattr(callers[route.caller], route.method)(
                route.url(world),
                good | dict.fromkeys(extra, "1"),
                format="multipart" if route.name in UPLOADS else "json",
            )
            assert response.status_code == 400
            errors = response.json()["errors"]
            assert {name for name in errors if "Unknown field." in errors[name]} == extra


def test_the_api_takes_what_the_pages_forms_take():
    """Bodies whose serializers repeat a form."""
    pairs = {
        ControlChangeInput: ControlChangeForm,
        ConsensusInput: ConsensusForm,
        EndpointInput: EndpointForm,
        InvitationInput: InvitationForm,
        LimitsInput: LimitsForm,
        PromptTextInput: PromptForm,
        RunInput: RunForm,
        AnswersRunInput: GenerationForm,
        StudyInput: StudyForm,
    }
    in_the_page_s_address = {"item_id", "label_round", "kind"}
    # Money is typed in units; a page carries its secret past the question about the price.
    typed = {"cap": "cap_micro"}
    for serializer, form in pairs.items():
        asked = {typed.get(name, name) for name in form.base_fields} - {"webhook_sealed"}
        assert set(serializer().fields) - in_the_page_s_address == asked, serializer


def test_the_actor_is_the_token_and_the_study_is_the_address(world, foreign, researcher):
    url = f"{base(world)}label-rounds/"
    made = post(researcher, url, 201, name="Mine", seed=2**63 - 1)
    label_round = label_rounds_of(world.study).get(public_id=made["id"])
    assert label_round.created_by == world.people.researcher
    assert (label_round.state, label_round.origin) == ("draft", "live")
    assert made["seed"] == 2**63 - 1
    # A guideline or argument of another study is no value.
    theirs, nothing = foreign.label_round.guideline.public_id, NOWHERE
    answers = [
        post(researcher, url, 400, name="Borrowed", guideline=str(each))
        for each in (theirs, nothing)
    ]
    items = f"{url}{world.draft.public_id}/items/"
    answers += [
        post(researcher, items, 400, arguments=[str(each)])
        for each in (foreign.argument.public_id, NOWHERE)
    ]
    assert answers[::2] == answers[1::2]
