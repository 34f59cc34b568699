"""Which object a sentence favours: right where the rule decides, silent elsewhere."""

from hypothesis import given, strategies as st

from annotation.generation.methods import favoured_object


def side(text: str) -> int | None:
    return favoured_object(text, "tea", "coffee")


UNCLEAR = (
    " | Tea is better. | Tea is better than milk. | Tea and coffee are warm."
    " | Is tea better than coffee? | Does tea cool faster than coffee."
    " | If tea is better than coffee, buy it. | I wish tea were cheaper than coffee."
    " | Tea is not better than coffee. | This is not to say that tea is better than coffee."
    " | Tea isn't any healthier than coffee. | Tea is as good as coffee."
    " | Tea is bigger than coffee. | Tea is harder than coffee."
    " | Tea is more something than coffee."
    " | Tea is cheaper than coffee, but coffee is better than tea."
    " | On tea, sugar dissolves faster than in coffee. | Milk is better than tea; coffee is hot."
    " | Milk, tea and sugar are worse than honey, and coffee is worse than water."
    " | Tea spoils faster than coffee. | Drink tea rather than coffee."
    " | I would do it for tea other than coffee. | Stop saying that tea is better than coffee."
    " | I do not prefer tea to coffee. | Tea does not beat coffee. | Go from tea to coffee."
    " | \x01 is better than \x02"
)


CLEAR = (
    "Tea is better than coffee. | Tea is far superior to coffee! | Tea is easier than coffee"
    " | Coffee is worse than tea. | Coffee was considerably slower to make than any tea."
    " | Tea is more useful than coffee. | Tea is less harmful than coffee."
    " | Coffee is less reliable than tea. | Coffee is more expensive than tea."
    " | We prefer tea to coffee. | Most doctors disagree, but I prefer tea over black coffee."
    " | I like tea better than coffee. | It works better with tea than with coffee."
    " | Tea beats coffee in taste. | Coffee is beaten by tea."
    " | Coffee outperforms milk, and tea outperforms coffee. | Coffee isn't as good as tea."
    " | Coffee is not as easy as tea. | Tea is not as expensive as coffee."
    " | Tea is quick, much faster than coffee. | Tea is better, and easier than coffee."
    " | They say that tea's taste is better than coffee's. | Tea is cheaper then coffee."
    " | TEAS are healthier than a Coffee"
    " | Tea is better than coffee, because it is cheaper than coffee."
)


def test_a_clear_claim_favours_one_object_whatever_the_order_of_the_pair():
    for text in CLEAR.split(" | "):
        assert favoured_object(text, "tea", "coffee") == 1, text
        assert favoured_object(text, "coffee", "tea") == 2, text
    # Of two names the longer one is looked for first.
    text = "Instant coffee is worse than coffee."
    assert favoured_object(text, "coffee", "instant coffee") == 1
    assert favoured_object(text, "coffee", "tea") is None


def test_without_a_clear_claim_there_is_no_side():
    for text in UNCLEAR.split(" | "):
        assert side(text) is None, text


WORDS = """
tea coffee better worse than then to not more less good expensive as , . ; prefer over beats beaten
by is isn't faster spoils rather and but on the superior ? if
"""
PIECES = st.sampled_from(sorted(WORDS.split()))


@given(st.lists(PIECES, max_size=14))
def test_turning_the_pair_around_turns_the_side_around(words):
    text = " ".join(words)
    turned = favoured_object(text, "coffee", "tea")
    assert side(text) == (None if turned is None else 3 - turned)
