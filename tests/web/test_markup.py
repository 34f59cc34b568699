"""`tests.web.markup` finds what it is asked to find, and nothing in what is right."""

from tests.web.markup import faults_of

RIGHT = (
    '<label for="a">A</label><input id="a">',
    "<label>B <select></select></label>",
    '<textarea aria-label="C"></textarea>',
    '<input type="hidden"><textarea hidden></textarea>',
    '<a href="/"><img src="x.png" alt="Home"></a><button><svg aria-label="Close"></svg></button>',
    "<div hidden><a></a></div>",
    "<main><h1>Title</h1></main>",
    '<form method="post"><input type="hidden" name="csrfmiddlewaretoken"></form><form></form>',
)
WRONG = {
    '<input id="a"><label for="b">A</label>': "input without a name",
    "<select></select>": "select without a name",
    '<p><a href="/"> </a></p>': "a without a name",
    '<button><svg aria-hidden="true"></svg></button>': "button without a name",
    "<h2></h2>": "h2 without a name",
    '<img src="x.png">': "image without a text",
    '<p id="a"></p><p id="a"></p>': "id used twice",
    "<main><h2>Title</h2></main>": "no heading",
    '<form method="post"><input type="submit"></form>': "form without its token",
}


def test_what_has_a_name_is_left_alone_and_what_has_none_is_told():
    for text in RIGHT:
        assert faults_of(text) == [], text
    for text, fault in WRONG.items():
        (found,) = faults_of(text)
        assert found.startswith(fault), text
