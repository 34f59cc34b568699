"""Markdown becomes HTML without anything that could run or load."""

from cqa_site.web.templatetags.markdown import anchors, markdown


def test_headings_lists_tables_and_emphasis_are_rendered():
    text = "# Scale\n\n- **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    html = markdown(text)
    assert "<h1>Scale</h1>" in html
    assert "<strong>two</strong>" in html
    assert "<td>1</td>" in html


def test_nothing_active_or_foreign_remains():
    for text in (
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![picture](https://elsewhere.example/p.png)",
        "[go](javascript:alert(1))",
        "[go](data:text/html,x)",
        "<a href='x' onclick='y'>z</a>",
        "<style>*{}</style>",
    ):
        html = markdown(text).lower()
        for bad in ("<script", "<img", "<style", 'onclick="', 'href="javascript', 'href="data'):
            assert bad not in html


def test_links_say_nothing_about_where_they_come_from():
    assert 'rel="noopener noreferrer nofollow"' in markdown("[x](https://example.org)")


def test_only_cleaned_headings_are_given_names():
    assert anchors(markdown("## To *be*")) == '<h2 id="to-be">To <em>be</em></h2>\n'
    assert anchors("<h2>x</h2><script>") == "&lt;h2&gt;x&lt;/h2&gt;&lt;script&gt;"
