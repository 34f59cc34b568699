"""The page about the house names what the contracts really have."""

import re
from pathlib import Path

from cqa_site.rounds.kind import SheetKind, TaskKind, kinds
from cqa_site.rounds.policies import OneByOne

PAGE = Path(__file__).parents[2] / "docs/architecture.md"


def members(contract: type) -> set[str]:
    said = {name for name in vars(contract) if not name.startswith("_")}
    return said | set(contract.__annotations__)


def test_the_recipe_for_a_kind_names_every_member_of_the_contract():
    rows = re.findall(r"^   \| (`.*?`) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == members(TaskKind) | members(SheetKind) | members(OneByOne)


def test_every_kind_has_what_the_contract_asks_for():
    for kind in kinds():
        contract = members(TaskKind)
        if isinstance(kind, OneByOne):
            contract |= members(SheetKind) | members(OneByOne)
        missing = [name for name in contract if not hasattr(kind, name)]
        assert not missing, f"{kind.name} lacks {missing}"
        if not isinstance(kind, OneByOne):
            continue
        subject = kind.Item._meta.get_field(kind.subject)
        assert kind.Sheet._meta.get_field(kind.subject).related_model == subject.related_model
        assert {each.name for each in kind.Sheet._meta.get_fields()} >= {"events", "kept", "slot"}
        for name in kind.settled:
            kind.Sheet._meta.get_field(name)
