"""The documentation as pages: every file, every link in it, and the search."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from cqa_site.home.help import pages, search
from cqa_site.web.navigation import GROUPS, entries
from cqa_site.web.pages import glossary
from cqa_site.web.templatetags.markdown import markdown, pictures

DOCS = Path(__file__).resolve().parents[2] / "docs"
pytestmark = pytest.mark.django_db


def test_every_file_is_a_page_and_no_link_is_dead(reader):
    names = {each.relative_to(DOCS).as_posix() for each in DOCS.rglob("*.md")}
    assert len(names) > 20
    for name in names:
        address = f"/help/{name}"
        text = reader.get(address).content.decode()
        article = text.split("<article")[1].split("</article>")[0]
        for link in re.findall(r'href="([^":]+?)"', article):
            target, _mark, anchor = link.partition("#")
            path = (DOCS / name).parent / target if target else DOCS / name
            assert path.resolve().exists(), f"{name} leads to {link}"
            if anchor and path.suffix == ".md":
                page = path.resolve().relative_to(DOCS).with_suffix("").as_posix()
                assert anchor in {each.anchor for each in pages()[page].sections}, link


def test_only_files_of_the_documentation_are_pages_for_whoever_is_signed_in(reader, client):
    for name in ("../README", "nothing", "papers/../../README", "papers", "papers/nothing"):
        assert reader.get(f"/help/{name}.md").status_code == 404
    text = reader.get(reverse("help_page", args=["deploy"])).content.decode()
    heading = next(each for each in pages()["deploy"].sections if each.anchor)
    assert f'id="{heading.anchor}"' in text
    assert client.get(reverse("help")).status_code == 302


def test_the_page_about_deviations_has_its_tables(reader):
    text = reader.get(reverse("help_page", args=["papers/deviations"])).text
    assert "<h1>Where paper, release and Counterpoint differ</h1>" in text
    assert "<td>17.97 ± 8.75</td>" in text
    assert text.count("<h1>") == 1


@pytest.mark.parametrize(
    "name", ["scores", "score_agreement", "faithfulness", "key_points", "summary_metrics"]
)
def test_pages_with_figures_of_papers_lead_there(study, reader, name):
    page = reader.get(reverse(name, args=[study.public_id])).text
    assert reverse("help_page", args=["papers/deviations"]) in page


def test_search_finds_sections_with_all_words(reader):
    found = search(["krippendorff"])
    assert found
    assert all("krippendorff" in f"{one.title} {one.text}".casefold() for one, _text in found)
    assert search(["krippendorff", "nothing-of-the-kind"]) == []
    # A term of the glossary says what it means before anything else; pictures are no text.
    first, meaning = search(["tie", "group"])[0]
    assert (first.page, first.title) == ("glossary", "rank, rank range, tie group")
    assert meaning == glossary()["tie group"].text
    assert not any("static/img" in text for _one, text in search(["leaderboard"]))
    users, developers = ("scoring", "key-points", "preferences"), ("architecture", "benchmarks")
    found = [one.page for one, _text in search(["interval"]) if one.page in users + developers]
    assert found[0] in users
    assert "quickstart" in {one.page for one, _text in search(["invite"])}
    text = reader.get(reverse("help"), {"q": "<b>alpha"}).content.decode()
    assert "&lt;b&gt;alpha" in text
    assert "Nothing found" in text


def test_pages_are_compressed_by_the_site_itself(reader):
    plain = reader.get(reverse("help_page", args=["scoring"]))
    packed = reader.get(reverse("help_page", args=["scoring"]), HTTP_ACCEPT_ENCODING="gzip")
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content) / 2


def test_documents_have_pictures_and_only_those_of_the_site(reader):
    text = reader.get(reverse("help_page", args=["scoring"])).content.decode()
    assert re.search(r'<img src="/static/img/help/leaderboard[^"]*" alt="Systems with', text)
    for name, page in pages().items():
        for alt, target in re.findall(r"!\[([^]]*)\]\(([^)]+)\)", page.body):
            assert alt, name
            assert (DOCS / name).parent.joinpath(target).resolve().is_file(), f"{name}: {target}"


def test_researchers_markdown_has_no_pictures():
    for path in ("https://elsewhere.example/a.png", "/static/img/help/../x.webp"):
        assert "<img" not in pictures(markdown(f"![x]({path})"))
    assert "<img" not in markdown("![x](../static/img/help/label.webp)")


def test_menus_that_documents_name_are_there():
    groups = {str(group.title): group.key for group in GROUPS}
    known = {(entry.group, str(entry.title)) for entry in entries()}
    paths = 0
    for name, page in pages().items():
        for path in re.findall(r"\*([^*→]+→[^*]+)\*", page.body):
            group, entry, *_further = (part.strip() for part in path.split("→"))
            if group in groups:
                paths += 1
                assert (groups[group], entry) in known, f"{name}: {path}"
    assert paths > 10
