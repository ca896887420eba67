"""Names and texts that are commands elsewhere, in every output: no script, element, cell or control is theirs."""

from __future__ import annotations

import functools
import re
import resource
import shutil
from collections.abc import Callable  # noqa: TC003 - of a table here
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from benchmark.report.escapes import csv_unescape, escape_controls
from tests.trials.injection import MARK, Texts, harmful, harmless, written
from tests.trials.limits import SLICE, TRACEBACK, chance, numbers, share, trial
from tests.trials.observe import assert_harmless, cells, elements, json_shape, on_terminal, svg, tex, tokens
from tests.trials.processes import bench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

playwright = pytest.importorskip("playwright.sync_api")

#: What is made of the experiment first, and what some of each trial are; a word in braces is one of its texts.
FIRST = [("run", "{configuration}.yaml", "--out", "run"), *([] if SLICE else [("report", "run", "--html")])]
COMMANDS = [
    ("run", "{configuration}.yaml", "--out", "again", "--verbose"),
    ("run", "{configuration}.yaml", "--out", "again", "--json"),
    ("report", "run", "--json"),
    ("compare", "run", "mine", "mnb"),
    ("explain", "run", "mine"),
    ("explain", "run", "theirs", "--document", "{document 3}"),
    ("explain", "run", "mnb", "--json"),
    ("plan", "{configuration}.yaml", "--no-pilot"),
    ("validate", "{configuration}.yaml"),
    ("data", "stats", "{configuration}.yaml"),
    ("data", "pin", "{configuration}.yaml"),
    ("data", "export", "{configuration}.yaml", "--out", "counts"),
    ("cite", "run"),
    ("init", "{corpus}.csv", "--out", "new.yaml", "--no-pilot"),
    ("fit", "{configuration}.yaml", "--cell", "mnb", "--out", "model"),
    ("fit", "{configuration}.yaml", "--cell", "fails", "--out", "model"),
    ("run", "run"),
    ("plugin", "test", "mine.py"),
    ("reproduce", "--configs", ".", "--page", "site/page.md"),
    ("survey", "methods", "{configuration}.yaml", "--out", "survey"),
    ("run", "{title}.yaml"),
    ("run", "{configuration}.yaml", "--only", "{title}"),
    ("compare", "run", "{title}", "mnb"),
    ("explain", "run", "{title}"),
    ("explain", "run", "mine", "--document", "{title}"),
    ("predict", "run", "{title}.csv"),
    ("list", "{title}"),
    ("report", "{title}"),
    ("--{title}",),
]
#: Elements that the twin may lack: of a longer text in a picture, which is broken, and the head of a document's row of
#: mistakes, as other texts are mistaken.
OURS = {"tspan dy x", "{http://www.w3.org/2000/svg}tspan dy x", "th class scope title"}
#: Seconds and bytes that no two runs share.
MEASURED = ("costs.csv",)


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[Path], tuple[set[str], set[str]]]]:
    """Open pages, each in a window of its own."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        pytest.skip("no Chromium on this machine")
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (limit[1], limit[1]))  # a browser reserves far more than it takes
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        resource.setrlimit(resource.RLIMIT_AS, limit)

        def look(page: Path) -> tuple[set[str], set[str]]:
            window = browser.new_page()
            try:
                return elements(window, page)
            finally:
                window.close()

        yield look
        browser.close()


def make(folder: Path, texts: Texts, *, by_class: bool) -> Path:
    """Write the experiment, run it at a terminal, and return its folder."""
    place = written(folder, texts, by_class=by_class).parent
    for words in FIRST:
        code, shown = command(words, texts, place)
        assert code == (words[0] == "run"), shown[-1_500:]  # one method fails
    return place


def command(words: tuple[str, ...], texts: Texts, folder: Path) -> tuple[int, str]:
    """Run a command at a terminal; AssertionError where that obeys more than is ours."""
    filled = [re.sub(r"\{(.*?)\}", lambda found: texts(found[1]).replace("\0", ""), word) for word in words]
    code, shown = on_terminal(*filled, folder=folder, BENCH_CACHE=str(folder.parent / "store"))
    assert TRACEBACK not in shown
    assert_harmless(shown)
    assert code >= 0
    return code, shown


@pytest.fixture(scope="module")
def twin(
    opened: Callable[[Path], tuple[set[str], set[str]]], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[bool], dict[str, Any]]:
    """Return what is in the files of an experiment of harmless texts."""

    @functools.cache
    def found(by_class: bool) -> dict[str, Any]:
        run = make(tmp_path_factory.mktemp("harmless"), Texts(harmless), by_class=by_class) / "run"
        return {path.name: content(path, opened) for path in sorted(run.iterdir())}

    return found


def table(text: str) -> Any:
    """Return a table with the numbers of its texts."""
    return cells(text).map(lambda cell: tuple(MARK.findall(cell)) or cell)


#: What is in a file to those who read it.
READERS: dict[str, Callable[[str], Any]] = {".svg": svg, ".md": tokens, ".tex": tex, ".csv": table, ".json": json_shape}


def content(path: Path, opened: Callable[[Path], tuple[set[str], set[str]]]) -> Any:
    """Return what a file is to those who read it."""
    looked = opened(path) if path.suffix in (".html", ".svg") else None
    if path.name in MEASURED or path.suffix not in READERS:
        return looked
    return READERS[path.suffix](path.read_text(encoding="utf-8"))


def assert_alike(name: str, found: Any, expected: Any) -> None:
    """Fail unless a file has what its twin has, and no more."""
    if name.endswith(".html"):
        extra = found[0] - expected[0] - OURS
        assert not extra, extra
        assert not found[1] - expected[1]
    elif name.endswith(".svg"):
        assert not found - expected - OURS
    elif isinstance(found, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize("number", numbers(24, 1))
@trial(600)
def test_no_output_obeys_a_name_or_text(
    number: int,
    twin: Callable[[bool], dict[str, Any]],
    opened: Callable[[Path], tuple[set[str], set[str]]],
    tmp_path: Path,
) -> None:
    random, by_class = chance("injection", number), bool(number % 2)
    texts = Texts(harmful(random))
    folder = make(tmp_path, texts, by_class=by_class)
    expected = twin(by_class)
    assert {path.name for path in (folder / "run").iterdir()} == set(expected)
    for name, harmless_one in expected.items():
        assert_alike(name, content(folder / "run" / name, opened), harmless_one)
    for words in random.sample(COMMANDS, share(4, 1)):
        command(words, texts, folder)
    for path in folder.rglob("*"):
        if "run" not in path.parts and path.suffix in (".html", ".md", ".json"):
            content(path, opened)


@pytest.mark.parametrize("number", numbers(24, 1))
@trial(300)
def test_what_a_model_answers_obeys_none_at_a_terminal_and_is_whole_in_a_file(number: int, tmp_path: Path) -> None:
    texts = Texts(harmful(chance("injected model", number)))
    folder = written(tmp_path, texts, by_class=False).parent
    code, shown = command(("fit", "{configuration}.yaml", "--cell", "mnb", "--out", "model"), texts, folder)
    assert not code, shown
    words = "predict", "model", f"{texts('corpus')}.csv", "--keep-all", "-f", ("csv", "jsonl")[number % 2]
    command(words, texts, folder)
    done = bench(*words, folder=folder, BENCH_CACHE=str(tmp_path / "store"))
    assert not done.code, done.error
    labels = {f"{texts('labels')}{i}".strip() for i in range(3)}
    (folder / "out").write_text(done.out, encoding="utf-8")
    given = pd.read_csv(folder / "out", dtype=str) if number % 2 == 0 else pd.read_json(folder / "out", lines=True)
    found = set(given["label"])
    escaped = {"\r".join(map(escape_controls, label.split("\r"))) for label in labels}
    assert set(map(csv_unescape, found)) <= escaped if number % 2 == 0 else found <= labels
