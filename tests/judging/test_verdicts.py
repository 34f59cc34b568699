import pytest
from jsonschema import Draft202012Validator

from cqa_site.judging.parsing import ReplyNotUsable, Unscored, Verdict, parse_verdict
from cqa_site.judging.schemas import LONGEST_REASON, verdict_schema


def read(text, finish_reason="stop", **more):
    return parse_verdict(text, finish_reason, "coherent", **more)


@pytest.mark.parametrize("value", [True, False])
def test_a_plain_verdict_is_read(value):
    text = f'{{"reason": "It says so.", "coherent": {str(value).lower()}}}'
    assert read(text) == Verdict(value, "It says so.")
    assert read(f"Here you are:\n```json\n{text}\n```") == Verdict(value, "It says so.")


def test_the_reason_may_be_missing():
    assert read('{"coherent": true}') == Verdict(True, "")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Unscored.EMPTY),
        ("Yes, it follows.", Unscored.NO_JSON),
        ('{"reason": "so"}', Unscored.NOT_SCHEMA),
        ('{"coherent": true, "score": 1}', Unscored.NOT_SCHEMA),
        ('{"coherent": true, "reason": 3}', Unscored.NOT_SCHEMA),
        ('{"coherent": 1}', Unscored.WRONG_TYPE),
        ('{"coherent": "true"}', Unscored.WRONG_TYPE),
        ('{"coherent": null}', Unscored.WRONG_TYPE),
        ('{"coherent": true}\n{"coherent": false}', Unscored.AMBIGUOUS),
        ('{"reason": "cut', Unscored.TRUNCATED),
    ],
)
def test_nothing_else_becomes_a_verdict(text, reason):
    with pytest.raises(ReplyNotUsable) as problem:
        read(text)
    assert problem.value.reason is reason


def test_the_wire_has_the_first_word():
    with pytest.raises(ReplyNotUsable) as cut:
        read('{"coherent": true}', "length")
    assert cut.value.reason is Unscored.TRUNCATED
    with pytest.raises(ReplyNotUsable) as refused:
        read('{"coherent": true}', refusal="I would rather not.")
    assert refused.value.reason is Unscored.REFUSED


def test_the_schema_takes_what_the_reader_takes():
    schema = Draft202012Validator(verdict_schema("coherent"))
    assert schema.is_valid({"reason": "so", "coherent": False})
    assert not schema.is_valid({"reason": "so", "coherent": 1})
    assert not schema.is_valid({"coherent": True})
    assert not schema.is_valid({"reason": "x" * (LONGEST_REASON + 1), "coherent": True})
    assert list(schema.schema["properties"]) == ["reason", "coherent"]
