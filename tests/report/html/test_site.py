"""The site of all papers: every verdict of REPRODUCTION.md, and links that lead somewhere."""

import re
from dataclasses import replace
from html import unescape

import pytest

from benchmark.report.html.site import INDEX_FILE, site_pages
from benchmark.report.scoreboard import scoreboard_headline, verdict_and_claim_counts
from tests.report.regions import figure_of, panels


@pytest.fixture
def pages(papers, without_vega):
    return site_pages(papers, {"webkb": "../runs/webkb/report.html"})


def words_of(html):
    return " ".join(
        unescape(re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", html, flags=re.DOTALL)).split()
    )


def test_the_index_leads_to_every_paper_and_run(pages):
    assert pages.keys() == {INDEX_FILE, "zhang2005.html"}
    addresses = set(re.findall(r'href="([^"#]+)"', pages[INDEX_FILE]))
    assert addresses == {"zhang2005.html", "../runs/webkb/report.html"}


def test_what_it_comes_to_is_what_the_page_of_all_papers_says(pages, papers):
    for html in pages.values():
        assert scoreboard_headline(papers) in words_of(html)
    for told in verdict_and_claim_counts(papers):
        assert told[1:] in words_of(pages["zhang2005.html"])
    assert "Zhang, 2005." in words_of(pages[INDEX_FILE])


def test_each_sign_has_its_verdict_in_words_and_opens_the_comparisons_of_its_claim(pages, papers):
    tones = {"holds": "good", "holds in part": "half", "contradicted": "bad", "fails": "bad", "not shown": "open"}
    item = re.compile(
        r'<li><a href="([^"]+)".*?class="sign (\w+)".*?class="sign (\w+)".*?class="unseen">: (.*?)</span>'
    )
    found = item.findall(pages[INDEX_FILE])
    counted = papers[0].claims[papers[0].claims["counted"] == ""]
    assert len(found) == len(counted) > 1
    for (address, *signs, words), row in zip(found, counted.to_dict("records"), strict=True):
        assert address == f"zhang2005.html#claim-{row['claim']}"
        assert f'id="claim-{row["claim"]}"' in pages["zhang2005.html"]
        verdicts = row["verdict"], row["strict_verdict"]
        assert signs == [tones[verdict.partition(" (")[0]] for verdict in verdicts]
        assert unescape(words) == f"{verdicts[0]} by the paper's criterion; {verdicts[1]} by our stricter test"


def test_what_deviates_opens_onto_what_was_tried(pages):
    html = pages["zhang2005.html"]
    opened = re.findall(r'<details><summary class="verdict bad">deviates</summary>(.*?)</details>', html)
    assert any("smart: 72.50 [71.20, 73.80], tuned (consistent)" in unescape(each) for each in opened)
    assert "A caveat &lt;of&gt; it." in html
    assert "<of>" not in html


@pytest.mark.usefixtures("without_vega")
def test_the_page_of_a_paper_with_decision_regions_has_their_triangle(papers):
    (paper,) = papers
    (part,) = paper.experiments
    drawn = replace(part.summary, regions=(figure_of(panels()[:2]),))
    pages = site_pages([replace(paper, experiments=(replace(part, summary=drawn),))], {})
    assert "data-kernel" not in pages[INDEX_FILE]
    assert [panel.title in pages["zhang2005.html"] for panel in panels()[:2]] == [True, True]
    assert pages["zhang2005.html"].count('class="simplex"') == 1
