"""What the site is made of, and the files around the product, say what is so."""

from __future__ import annotations

import html
import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import benchmark
from benchmark.cli import app
from benchmark.papers import published
from tests.docs.test_numbers import script

if TYPE_CHECKING:
    from types import ModuleType

REPOSITORY = Path(__file__).parents[2]
DOCS = REPOSITORY / "docs"
CITED = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
DEPOSIT: dict[str, Any] = json.loads((REPOSITORY / ".zenodo.json").read_text(encoding="utf-8"))


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    pytest.importorskip("mkdocs")
    return script("hooks")


def test_a_paper_has_a_page_with_all_that_there_is_of_it(hooks: ModuleType) -> None:
    pages = hooks.pages()
    configs = {path.name: path.read_text("utf-8") for path in (REPOSITORY / "configs").glob("*.yaml")}
    for paper in hooks.with_claims():
        page, own = pages[f"papers/{paper.paper}.md"], [n for n, c in configs.items() if f"paper: {paper.paper}" in c]
        assert own
        expected = ["## Formulas", paper.finding[:40], *(f"| {claim.id} " for claim in paper.claims)]
        expected += [f"`configs/{name}`" for name in own]
        expected += [row for row in read(f"results/papers/{paper.paper}.md").splitlines() if row.startswith("|")]
        assert not [each for each in expected if each not in page]


def test_results_of_papers_are_of_those_that_there_are_and_the_index_has_their_scoreboard(hooks: ModuleType) -> None:
    expected, board = {each.paper for each in hooks.with_claims()} | {"coverage", "deviations"}, hooks.scoreboard()
    assert {path.stem for path in (REPOSITORY / "results" / "papers").glob("*.md")} == expected
    whole = read("results/REPRODUCTION.md")
    assert set(re.findall(r"\(papers/(\w+)\.md\)", whole)) == expected
    assert len(whole.splitlines()) < 60, "one page"
    assert read("docs/index.md").count(hooks.SCOREBOARD) == 1
    assert board in whole
    for paper in hooks.with_claims():
        (row,) = (line for line in board.splitlines() if line.startswith(f"- **[{paper.title}]"))
        assert paper.claimed in row
        assert paper.finding.split(";")[0] in row


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "examples/README.md"])
def test_links_lead_to_files(name: str) -> None:
    """MkDocs looks at those of the site."""
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(name)):
        assert target.startswith("https://") or ((REPOSITORY / name).parent / target).exists(), target


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


def test_one_line_says_everywhere_what_this_is() -> None:
    line = read("README.md").splitlines()[2]
    config = yaml.load(re.sub("!!python.*", "", read("mkdocs.yml")), Loader=yaml.SafeLoader)
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert read("docs/index.md").splitlines()[2] == line
    assert {project["description"], CITED["abstract"].strip(), DEPOSIT["description"], config["site_description"]} == {
        line
    }
    assert line in " ".join(str(app.info.help).split())


def test_the_citation_is_of_this_version_and_of_every_paper_and_zenodo_gets_what_it_says() -> None:
    assert CITED["version"] == benchmark.__version__
    references = [yaml.safe_load(path.read_text("utf-8")) for path in published.PUBLISHED_FOLDER.glob("*.yaml")]
    assert len(CITED["references"]) == sum(bool(of.get("claims")) for of in references)
    for key in ("title", "license", "keywords"):
        assert DEPOSIT[key] == CITED[key]
    assert [each["name"] for each in DEPOSIT["creators"]] == [each["name"] for each in CITED["authors"]]
    for text, each in zip(DEPOSIT["references"], CITED["references"], strict=True):
        assert any(each["title"].lower() in of["reference"].lower() for of in references), each["title"]
        assert text.endswith(f"({each['year']}). {each['title']}.")
        assert all(author["family-names"] in text for author in each["authors"])


def test_each_claim_has_a_command_and_files_that_there_are() -> None:
    table = read("docs/reviewing.md").partition("## Claim, command, file")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    for claim, command, files in rows:
        named = re.findall(r"`(.+?)`", command)
        assert named, claim
        for each in (name for line in named if line.startswith("bench check") for name in line.split()[2:]):
            assert (REPOSITORY / "results" / "pinned" / f"{each}.csv").exists(), each
        for target in re.findall(r"`(.+?)`", files):
            assert list(REPOSITORY.glob(target)), target
