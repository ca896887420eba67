"""A paper of the user's own: its values stand in a file beside the configuration."""

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.run import report_again, run_and_write
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError

CONFIG = """
name: sixth
paper: {paper}
corpus: {{name: synthetic}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, ngd]
"""
VALUES = """
paper: of2003
title: A paper of 2003
reference: Someone, 2003.
values:
  - {config: sixth, cell: mnb, metric: accuracy, value: "0.500"}
claims:
  - id: simplex-is-better
    text: The simplex is better.
    relation: greater
    test: sign
    comparisons: [{config: sixth, a: ngd, b: mnb}]
reference_values:
  - {method: m, source: s, transductive: false, values: [{config: sixth, cell: "ng*", metric: accuracy, value: "1"}]}
"""


@pytest.fixture
def checked(tmp_path):
    def check(paper="./values.yaml", values=VALUES):
        (tmp_path / "values.yaml").write_text(values)
        (tmp_path / "sixth.yaml").write_text(CONFIG.format(paper=paper))
        return load_checked(tmp_path / "sixth.yaml")

    return check


@pytest.mark.usefixtures("sketched")
def test_its_values_and_claims_get_verdicts_also_when_the_file_is_gone(checked, tmp_path):
    experiment = checked()
    assert experiment.paper == "of2003"
    done = run_and_write(experiment, RunContext(Store(tmp_path / "store")), folder=tmp_path / "run")
    verdicts = (tmp_path / "run" / "verdicts.csv").read_text()
    assert "mnb,accuracy" in verdicts
    assert "deviates" in verdicts
    assert "simplex-is-better" in (tmp_path / "run" / "table.md").read_text()
    (tmp_path / "values.yaml").unlink()
    (tmp_path / "sixth.yaml").unlink()
    again = report_again(tmp_path / "run")
    assert again.summary.notes == done.summary.notes
    assert (tmp_path / "run" / "verdicts.csv").read_text() == verdicts


@pytest.mark.parametrize(
    ("paper", "values", "words"),
    [
        ("./nowhere.yaml", VALUES, "sixth.yaml:3: "),
        ("of2003", VALUES, "unknown paper 'of2003'"),
        ("values.yaml", VALUES.replace("b: mnb", "b: ngb"), "values.yaml:12: unknown cell 'ngb'; did you mean 'ngd'?"),
        ("values.yaml", VALUES.replace("cell: mnb", "cell: mnbb"), "values.yaml:6: unknown cell 'mnbb'; did you mean"),
        (
            "values.yaml",
            VALUES.replace("{config: sixth, c", "{config: sixt, c", 1),
            "unknown configuration 'sixt'; did",
        ),
        ("values.yaml", VALUES.replace("ng*", "nd*"), "values.yaml:14: unknown cell 'nd*'"),
        ("values.yaml", VALUES.replace("relation", "relations"), "values.yaml"),
        ("values.yaml", "- 1", "values.yaml"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(checked, paper, values, words):
    with pytest.raises(ConfigError) as caught:
        checked(paper, values)
    assert words in str(caught.value)
