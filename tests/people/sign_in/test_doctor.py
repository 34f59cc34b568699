"""The doctor asks providers as a sign-in would, and says which of them nobody can use."""

from cqa_site.upkeep.doctor.examinations import sign_in
from cqa_site.upkeep.doctor.findings import State


def test_a_provider_that_answers_is_well(provider):
    found = sign_in.providers()
    assert found.state == State.WELL
    assert "The University: answers" in found.says


def test_providers_that_cannot_be_used_are_named_with_the_reason(provider, trust, settings):
    def wrong(words):
        found = sign_in.providers()
        assert found.state == State.WRONG
        assert words in found.says
        assert "The University" in found.says
        assert "OIDC_PROVIDERS" in found.remedy

    provider.description = {"issuer": "https://another.example"}
    wrong("as another one")
    provider.description = {}
    provider.instead["/keys"] = lambda handler: handler.answer(200, {"keys": []})
    wrong("PyJWKSetError")
    provider.instead = {}
    trust(issuer=f"{provider.issuer}/moved")
    wrong("cannot be asked")
    trust(issuer="http://127.0.0.1:9")
    wrong("cannot be asked")
    settings.OIDC_PROVIDERS = {}
    assert sign_in.providers().state == State.WELL
