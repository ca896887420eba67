"""The site of all papers: every verdict of REPRODUCTION.md, and links that lead somewhere."""

import re
from html import unescape

import pytest

from benchmark.report.html import render
from benchmark.report.html.site import INDEX_FILE, site_pages
from benchmark.report.page import verdict_and_claim_counts


@pytest.fixture
def pages(papers, monkeypatch):
    monkeypatch.setitem(render._environment().globals, "vega", lambda: "")
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
    for told in verdict_and_claim_counts(papers):
        for html in pages.values():
            assert told[1:] in words_of(html)


def test_what_deviates_opens_onto_what_was_tried(pages):
    html = pages["zhang2005.html"]
    opened = re.findall(r'<details><summary class="verdict bad">deviates</summary>(.*?)</details>', html)
    assert any("smart: 72.50 [71.20, 73.80], tuned (consistent)" in unescape(each) for each in opened)
    assert "A caveat &lt;of&gt; it." in html
    assert "<of>" not in html
