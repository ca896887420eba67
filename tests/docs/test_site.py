"""What the site is made of, and the files around the product, say what is so."""

from __future__ import annotations

import html
import importlib
import importlib.util
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import yaml

import benchmark
from benchmark.papers import published
from benchmark.report.drawing.render import render_pictures

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).parents[2]

DOCS = REPOSITORY / "docs"


def script(name: str) -> ModuleType:
    """A module of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    pytest.importorskip("mkdocs")
    return script("hooks")


@pytest.fixture(scope="module")
def pages(hooks: ModuleType) -> dict[str, str]:
    found: dict[str, str] = hooks.pages()
    return found


@pytest.mark.slow
def test_pictures_are_those_that_the_code_draws() -> None:
    pictures = script("pictures").PICTURES
    surveys = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("methods", "ablation"))
    of_runs = set(re.findall(r"\(img/(.+?)\.svg\)", surveys))
    assert {path.stem for path in (DOCS / "img").iterdir()} == {*pictures, *of_runs, "page"}  # docs/page_picture.py
    for name, files in render_pictures({name: draw() for name, draw in pictures.items()}).items():
        assert (DOCS / "img" / f"{name}.svg").read_bytes() == files["svg"], f"make docs draws another {name}"


def test_the_page_of_growth_has_the_numbers_that_were_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(REPOSITORY / "tests" / "perf"))
    scale = importlib.import_module("scale")
    found, text = json.loads(scale.RESULT.read_text(encoding="utf-8")), scale.PAGE.read_text(encoding="utf-8")
    measured = text.partition(f"{scale.OPENS}\n")[2].partition(scale.CLOSES)[0]
    assert measured.strip() == scale.section(found).strip(), "tests/perf/scale.py writes it"


def test_a_paper_has_a_page_with_all_that_there_is_of_it(hooks: ModuleType, pages: dict[str, str]) -> None:
    for paper in hooks.with_claims():
        page = pages[f"papers/{paper.paper}.md"]
        assert "## Formulas" in page, "docs/papers/ has them"
        assert paper.finding[:40] in page
        assert all(f"| {claim.id} " in page for claim in paper.claims)
        configs = [
            p for p in (REPOSITORY / "configs").glob("*.yaml") if f"paper: {paper.paper}" in p.read_text("utf-8")
        ]
        assert configs
        assert all(f"`configs/{path.name}`" in page for path in configs)
        found = (REPOSITORY / "results" / "papers" / f"{paper.paper}.md").read_text(encoding="utf-8")
        assert all(row in page for row in found.splitlines() if row.startswith("|"))


def test_results_of_papers_are_of_those_that_there_are(hooks: ModuleType) -> None:
    expected = {each.paper for each in hooks.with_claims()} | {"coverage", "deviations"}
    assert {path.stem for path in (REPOSITORY / "results" / "papers").glob("*.md")} == expected
    whole = (REPOSITORY / "results" / "REPRODUCTION.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\(papers/(\w+)\.md\)", whole)) == expected
    assert len(whole.splitlines()) < 60, "one page"


def test_the_scoreboard_has_the_verdicts_of_the_records() -> None:
    """Under several readings of a paper a claim has a half sign, unless it holds under all or under none."""
    signs = {"holds": "✓", "holds in part": "◐", "contradicted": "✗", "contradicted in part": "✗", "fails": "✗"}
    claims = pd.read_csv(REPOSITORY / "results" / "papers" / "claims.csv", keep_default_na=False)
    expected = {}
    for (paper, claim), rows in claims[claims["counted"] == ""].groupby(["paper", "claim"], sort=False):
        both = []
        for name in ("verdict", "strict_verdict"):
            words = [text.partition(" (")[0] for text in rows[name]]
            mixed = len({word == "holds" for word in words}) > 1
            first = next((text for text in rows[name] if "(" in text), rows[name].iloc[0])
            both.append("◐" if mixed else signs.get(first.partition(" (")[0], "○"))
        expected[paper, claim] = "".join(both)
    whole = (REPOSITORY / "results" / "REPRODUCTION.md").read_text(encoding="utf-8")
    found = re.findall(r'\[([✓◐✗○]{2})\]\(papers/(\w+)\.md#claims "([\w-]+)"\)', whole)
    assert {(paper, claim): both for both, paper, claim in found} == expected


def test_the_index_has_the_scoreboard_of_the_reproduction(hooks: ModuleType) -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert index.count(hooks.SCOREBOARD) == 1
    board = hooks.scoreboard()
    assert board in (REPOSITORY / "results" / "REPRODUCTION.md").read_text(encoding="utf-8")
    for paper in hooks.with_claims():
        (row,) = (line for line in board.splitlines() if line.startswith(f"- **[{paper.title}]"))
        assert paper.claimed in row
        assert paper.finding.split(";")[0] in row


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in DOCS.glob("*.md"))])
def test_links_lead_to_files(name: str, hooks: ModuleType, pages: dict[str, str]) -> None:
    path = REPOSITORY / name
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")):
        made = path.parent == DOCS and target in pages
        assert target.startswith("https://") or made or (path.parent / target).exists(), target


@pytest.mark.parametrize("path", [DOCS / "ablation.md", *sorted((DOCS / "papers").glob("*.md"))], ids=lambda p: p.stem)
def test_formulas_become_mathml_without_a_rest_of_latex(path: Path, hooks: ModuleType) -> None:
    pytest.importorskip("latex2mathml")
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"```math\n(.*?)```", text, re.DOTALL)
    inline = re.findall(r"\$([^$]+)\$", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    assert blocks
    assert inline
    spans = [rf'<span class="arithmatex">\({html.escape(each)}\)</span>' for each in inline]
    spans += [f'<div class="arithmatex">\\[\n{html.escape(each)}\\]</div>' for each in blocks]
    made = hooks.on_page_content("".join(spans), None, None, None)
    assert made.count("<math ") == len(spans)
    assert "arithmatex" not in made
    assert "\\" not in made
    assert "<mi>&" not in made.replace("<mi>&#", "")  # a column of a table that isn't read as one


def test_the_citation_is_of_this_version_and_of_every_paper() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["version"] == benchmark.__version__
    references = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in published.PUBLISHED_FOLDER.glob("*.yaml")
    ]
    for each in cited["references"]:
        assert any(each["title"].lower() in of["reference"].lower() for of in references), each["title"]
    assert len(cited["references"]) == sum(bool(of.get("claims")) for of in references)


def test_zenodo_gets_what_the_citation_says() -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    deposit = json.loads((REPOSITORY / ".zenodo.json").read_text(encoding="utf-8"))
    assert {key: deposit[key] for key in ("title", "license", "keywords")} == {
        key: cited[key] for key in ("title", "license", "keywords")
    }
    assert deposit["description"] == cited["abstract"].strip()
    assert [each["name"] for each in deposit["creators"]] == [each["name"] for each in cited["authors"]]
    assert len(deposit["references"]) == len(cited["references"])
    for text, each in zip(deposit["references"], cited["references"], strict=True):
        assert text.endswith(f"({each['year']}). {each['title']}.")
        assert all(author["family-names"] in text for author in each["authors"])


def test_each_claim_has_a_command_and_files_that_there_are() -> None:
    page = (DOCS / "reviewing.md").read_text(encoding="utf-8")
    table = page.partition("## Claim, command, file")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    for claim, command, files in rows:
        named = re.findall(r"`(.+?)`", command)
        assert named, claim
        for each in (name for line in named if line.startswith("bench check") for name in line.split()[2:]):
            assert (REPOSITORY / "results" / "pinned" / f"{each}.csv").exists(), each
        for target in re.findall(r"`(.+?)`", files):
            assert list(REPOSITORY.glob(target)), target
