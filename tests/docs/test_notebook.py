"""The notebook runs from top to bottom, and its comparisons are those of the configuration beside it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from benchmark.config.experiment import read_config
from benchmark.experiment.configuration import load_checked

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_cell_runs_and_shows_something():
    notebook = json.loads((DOCS / "own-method.ipynb").read_text(encoding="utf-8"))
    names, shown = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *before, last = re.split(r"\n(?=\S)(?![)\]}])", cell["source"])
            exec("\n".join(before), names)  # noqa: S102 - our own notebook
            shown.append(eval(last, names))  # noqa: S307
        assert not cell.get("outputs")
    result, tests, figure, predicted, ranking = shown
    assert not result.failures
    assert set(result.scores["cell"]) == {"linear", "forest", "both"}
    assert set(tests["a"]) == {"forest", "both"}
    assert "image/svg+xml" in figure._repr_mimebundle_()
    assert set(predicted) <= set(names["tickets"]["queue"])
    assert len(ranking)


@pytest.mark.slow
def test_the_guides_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    block = re.search(r"In a notebook:\n\n```python\n(.*?)```", guide, re.DOTALL)
    assert block
    names = {}
    exec(block.group(1), names)  # noqa: S102 - the guide's own lines
    assert names["found"].figure().to_dict()["concat"]
    assert (tmp_path / "figure.png").stat().st_size > 1000


def test_the_pages_configuration_is_a_good_one(tmp_path):
    (block,) = re.findall(r"```yaml\n(.*?)```", (DOCS / "own-method.md").read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "mine.yaml"
    path.write_text(block)
    assert yaml.safe_load(block) == read_config(path).value
    assert sorted(load_checked(path).cells, key=str)
