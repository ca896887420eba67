"""Hooks of MkDocs: generate pages from published numbers, configurations, results and docstrings."""

from __future__ import annotations

import inspect
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

import benchmark
from benchmark.analysis.formatting.table import Table
from benchmark.classifiers import CLASSIFIERS
from benchmark.kernels import KERNELS, Kernel
from benchmark.papers import published as papers
from benchmark.papers.load import load_published
from benchmark.report.escapes import markdown_text
from benchmark.report.writers import markdown_table
from benchmark.representation import Weighting
from benchmark.system.yaml_source import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

    from benchmark.papers.published import Claim, Published

REPOSITORY = Path(__file__).parents[1]

RESULTS, CONFIGS = REPOSITORY / "results", REPOSITORY / "configs"
#: Pages that stand in the navigation once they are written.
AWAITED = ("methods.md", "ablation.md")
#: Pages whose tables are wider than the text.
WIDE = ("index.md", "methods.md", "ablation.md", "reproduction.md")
#: Pages that `bench reproduce` writes of all papers, beside the reproduction.
OF_ALL_PAPERS = ("papers/deviations.md", "papers/coverage.md")
#: Comment of a page in whose place the scoreboard stands.
SCOREBOARD = "<!-- scoreboard -->"
#: Formulas as pymdownx.arithmatex leaves them: \\(…\\) in a text, and \\[…\\] in a paragraph of its own.
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[]\s*(.*?)\s*\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the papers to the navigation, in the order of their years, and leave out pages that don't exist yet."""
    ready = [page for page in config.nav or [] if page not in AWAITED or (REPOSITORY / "docs" / page).exists()]
    of_papers = ["reproduction.md", *(f"papers/{each.paper}.md" for each in with_claims()), *OF_ALL_PAPERS]
    config.nav = [{"Papers": of_papers} if page == {"Papers": []} else page for page in ready]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages; a paper's page replaces that of its formulas."""
    for name, text in pages().items():
        written = files.get_file_from_path(name)
        if written is not None:
            files.remove(written)
        files.append(File.generated(config, name, content=text))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Replace formulas by MathML, which browsers draw without a script."""
    return _FORMULA.sub(lambda found: mathml(unescape(found[2]), display=found[1] == "div"), html)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Give pages with wide tables the room of the contents, and fill in the scoreboard of the papers."""
    if page.file.src_path in WIDE:
        page.meta["hide"] = ["toc"]
    return markdown.replace(SCOREBOARD, scoreboard())


def scoreboard() -> str:
    """Return what came out of each paper: the first section of the page on the reproduction."""
    _, _, rest = (RESULTS / "REPRODUCTION.md").read_text(encoding="utf-8").partition("\n## In short\n")
    return rest.partition("\n## ")[0].strip()


def mathml(formula: str, *, display: bool) -> str:
    r"""Return a formula of LaTeX as MathML.

    Examples
    --------
    >>> mathml("2s", display=False)
    '<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"><mrow><mn>2</mn><mi>s</mi></mrow></math>'
    """
    from latex2mathml.converter import convert  # noqa: PLC0415 - the pages' other parts are made without it

    return str(convert(formula, display="block" if display else "inline"))


def with_claims() -> list[Published]:
    """Return the papers that are reproduced, the oldest first, without those of reference values."""
    found = [load_published(path) for path in papers.PUBLISHED_FOLDER.glob("*.yaml")]
    return sorted((each for each in found if each.claims), key=lambda each: each.paper[-4:])


def pages() -> dict[str, str]:
    """Return every generated page by its name."""
    made = {f"papers/{each.paper}.md": paper_page(each) for each in with_claims()}
    made["reproduction.md"] = (RESULTS / "REPRODUCTION.md").read_text(encoding="utf-8")
    for name in OF_ALL_PAPERS:
        made[name] = (RESULTS / name).read_text(encoding="utf-8").replace("../REPRODUCTION.md", "../reproduction.md")
    made["api.md"] = api_page()
    return made


def paper_page(paper: Published) -> str:
    """Return the page of a paper: formulas, claims, open choices, configurations and results."""
    written = REPOSITORY / "docs" / "papers" / f"{paper.paper}.md"
    formulas = written.read_text(encoding="utf-8") if written.exists() else f"# {markdown_text(paper.title)}\n"
    title, _, rest = formulas.partition("\n")
    head = [title, "", markdown_text(paper.reference), "", f"**{markdown_text(paper.finding)}**", rest]
    configs = {path.stem: path for path in sorted(CONFIGS.glob("*.yaml")) if _of(path, paper, "paper")}
    tried = {path.stem: path for path in sorted(CONFIGS.glob("*.yaml")) if _data(path).get("sensitivity_of") in configs}
    parts = [*head, *_claims(paper), *_open(paper, configs | tried), *_configurations(configs | tried), *_found(paper)]
    return "\n".join(parts).rstrip() + "\n"


def _data(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_yaml(path).value
    return found


def _of(path: Path, paper: Published, key: str) -> bool:
    return bool(_data(path).get(key) == paper.paper)


def _claims(paper: Published) -> Iterator[str]:
    n, ranges = sum(not value.alternative for value in paper.values), len(paper.ranges)
    yield "\n## What it prints and claims\n"
    yield f"{n} printed numbers, {ranges} axes of figures, {len(paper.claims)} claims:\n"
    rows = tuple((each.id, each.text, _rule(each), each.aside or "") for each in paper.claims)
    header = ("claim", "text", "strict test", "not counted")
    yield markdown_table(Table.of("Claims", header, rows))


def _rule(claim: Claim) -> str:
    return papers.SHORT_TEST_NAMES.get(
        claim.test or "", "the scores" if claim.margin is None else f"within {claim.margin}"
    )


def _open(paper: Published, configs: dict[str, Path]) -> Iterator[str]:
    """Return the choices that a paper leaves open, and those that were tuned to published values."""
    told: dict[str, str] = {}
    for name, path in configs.items():
        found = _data(path)
        told |= {" ".join(note.split()): name for note in found.get("notes", ())}
        tuned = found.get("tuned_to_published", ())
        told |= {f"Chosen: {each['choice']}, to come near {each['to']}.": name for each in tuned}
    told |= {f"{each.id}: {each.because}.": paper.paper for each in paper.claims if each.because}
    if told:
        yield "\n## What was open\n"
        yield from (f"- {markdown_text(text)} (`{where}`)" for text, where in told.items())


def _configurations(configs: dict[str, Path]) -> Iterator[str]:
    """Return each configuration as it is; its comments cite the paper for each setting."""
    yield "\n## How it is run\n"
    for name, path in configs.items():
        yield f'??? note "`configs/{name}.yaml`: {markdown_text(str(_data(path).get("title", name)))}"\n'
        lines = ["```yaml", *path.read_text(encoding="utf-8").splitlines(), "```", ""]
        yield "\n".join(f"    {line}".rstrip() for line in lines)


def _found(paper: Published) -> Iterator[str]:
    """Return the page that `bench reproduce` writes, as a section of another page."""
    path = RESULTS / "papers" / f"{paper.paper}.md"
    if path.exists():
        _, _, body = path.read_text(encoding="utf-8").partition("\n")
        body = body.replace("../REPRODUCTION.md", "../reproduction.md")
        yield "\n## What was found\n" + re.sub(r"(?m)^## ", "### ", body)


def _of_ours(member: Any) -> bool:
    return str(getattr(member, "__module__", "")).startswith("benchmark.")


def api_page() -> str:
    """Return the reference of the Python API: signatures and docstrings, from the code."""
    at_hand = {f"benchmark.{name}": getattr(benchmark, name) for name in dir(benchmark) if not name.startswith("_")}
    groups = {
        "In a notebook": {name: each for name, each in at_hand.items() if _of_ours(each)},
        "Points": {"benchmark.representation.Weighting": Weighting},
        "Kernels": {f"{cls.__module__}.{cls.__name__}": cls for cls in (Kernel, *KERNELS.values())},
        "Classifiers": {f"{cls.__module__}.{cls.__name__}": cls for cls in CLASSIFIERS.values()},
    }
    lines = ["# Reference of the API", "", "Kernels, classifiers and weightings are scikit-learn estimators."]
    for title, members in groups.items():
        lines += ["", f"## {title}"]
        for name, member in members.items():
            error = isinstance(member, type) and issubclass(member, Exception)  # raised, and not made by users
            shown = name.rpartition(".")[2] + ("" if error else str(inspect.signature(member)))
            lines += ["", f"### `{name}`", "", "```text", shown, "", inspect.getdoc(member) or "", "```"]
    return "\n".join(lines) + "\n"
