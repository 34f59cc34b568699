"""The page about the house names what the contracts really have."""

import re
from pathlib import Path

from cqa_site.rounds.kind import TaskKind, kinds

PAGE = Path(__file__).parents[2] / "docs/architecture.md"


def members() -> set[str]:
    said = {name for name in vars(TaskKind) if not name.startswith("_")}
    return said | set(TaskKind.__annotations__)


def test_the_recipe_for_a_kind_names_every_member_of_the_contract():
    rows = re.findall(r"^   \| (`.*?`) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == members()


def test_every_kind_has_what_the_contract_asks_for():
    for kind in kinds():
        missing = [name for name in members() if not hasattr(kind, name)]
        assert not missing, f"{kind.name} lacks {missing}"
        subject = kind.Item._meta.get_field(kind.subject)
        assert kind.Sheet._meta.get_field(kind.subject).related_model == subject.related_model
        assert {each.name for each in kind.Sheet._meta.get_fields()} >= {"events", "kept", "slot"}
        for name in kind.settled:
            kind.Sheet._meta.get_field(name)
