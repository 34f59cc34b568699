"""The fixed cast of people and studies that tests use."""

import time
from importlib import import_module

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.test import Client

from annotation.corpus.models import Argument, Comparison
from annotation.labelling.models import Guideline, Item, LabelRound
from cqa_site.people.models import Membership, Role, Study, User
from cqa_site.people.sign_in.second_step import NOTED_KEY
from cqa_site.tabular.cells import text_key

LEVELS = [
    {"value": 0, "name": "Not relevant", "meaning": "Nothing to compare with.", "example": ""},
    {"value": 1, "name": "One object", "meaning": "Useful about one object.", "example": ""},
    {"value": 2, "name": "Both, no reason", "meaning": "Both, without a reason.", "example": ""},
    {"value": 3, "name": "Both, with reason", "meaning": "Both, with a reason.", "example": ""},
]


def make_study(name: str = "Study A") -> Study:
    """A study without members."""
    return Study.objects.create(name=name)


def make_member(study: Study, role: str, name: str = "") -> User:
    """A user with one role in the study; the e-mail says which."""
    count = User.objects.count()
    user = User.objects.create_user(
        f"{role}-{count}@{study.name.replace(' ', '-').lower()}.example",
        "a long password",
        name=name,
    )
    Membership.objects.create(study=study, user=user, role=role)
    return user


def sign_in(user: User) -> Client:
    """A client with the user's session, written as a login leaves it, but without one."""
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    session[NOTED_KEY] = [session.session_key, time.time()]
    session.save()
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = session.session_key
    return client


def make_guideline(study: Study) -> Guideline:
    """Version n of a short 0–3 guideline."""
    number = study.guidelines.count() + 1
    return Guideline.objects.create(
        study=study, number=number, title="Relevance", body="Read, then label.", levels=LEVELS
    )


def make_arguments(
    study: Study, count: int, pair: tuple[str, str] = ("tea", "coffee")
) -> list[Argument]:
    """Invented sentences about one pair."""
    comparison, _ = Comparison.objects.get_or_create(study=study, object1=pair[0], object2=pair[1])
    offset = comparison.arguments.count()
    texts = [f"{pair[0]} beats {pair[1]} in point {offset + i}." for i in range(count)]
    return Argument.objects.bulk_create(
        Argument(study=study, comparison=comparison, text=text, text_sha256=text_key(text))
        for text in texts
    )


def make_label_round(
    study: Study, *, ordinary: int = 8, controls: int = 2, name: str = "Round 1", **fields
) -> LabelRound:
    """A draft round with items; controls carry label 3."""
    label_round = LabelRound.objects.create(
        study=study, name=name, guideline=make_guideline(study), **LabelRound.USUAL | fields
    )
    arguments = make_arguments(study, ordinary + controls)
    Item.objects.bulk_create(
        Item(
            round=label_round,
            argument=argument,
            external_id=str(argument.public_id),
            rank=rank,
            control_label=3 if rank < controls else None,
            imported_control_label=3 if rank < controls else None,
        )
        for rank, argument in enumerate(arguments)
    )
    return label_round


ROLES = list(Role.values)
