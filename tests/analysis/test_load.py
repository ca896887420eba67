from pathlib import Path

import pytest
import yaml

from benchmark.papers.load import load_published
from benchmark.system.errors import ConfigError

PUBLISHED = Path(__file__).parents[2] / "results" / "published"
PAIR = {"config": "x", "a": "a", "b": "b"}


class TestZhang2005:
    @pytest.fixture(scope="class", name="paper")
    @staticmethod
    def read():
        return load_published(PUBLISHED / "zhang2005.yaml")

    @pytest.mark.parametrize(
        ("config", "weighting", "printed"),
        [("webkb", "tf", "72.57 84.39 91.88 89.52 90.08"), ("20ng", "tfidf", "21.47 72.20 84.61 82.33 82.06")],
    )
    def test_rows_of_tables_1_and_2(self, paper, config, weighting, printed):
        of_cell = {(v.config, v.cell): v.value for v in paper.values if v.unit == "percent"}
        columns = ["l1-linear", "l1-ned", "l1-ngd", "l2-linear", "l2-ned"]
        assert [of_cell[config, f"{weighting}-{column}"] for column in columns] == printed.split()

    @pytest.mark.parametrize(
        ("other", "printed"), [("linear", "3.4744 4.2500 7.5234 7.4853"), ("ned", "2.6726 4.4313 7.6028 8.4718")]
    )
    def test_rows_of_table_3(self, paper, other, printed):
        of_pair = {(v.config, v.pair): v.value for v in paper.values if v.metric == "sign-z"}
        columns = [(config, weighting) for config in ("webkb", "20ng") for weighting in ("tf", "tfidf")]
        assert [of_pair[c, (f"{w}-l1-ngd", f"{w}-l2-{other}")] for c, w in columns] == printed.split()


class TestFile:
    GOOD = yaml.safe_load("""
        paper: p
        title: t
        reference: r
        unit: percent
        values: [{table: 1, config: webkb, cell: a, metric: accuracy, value: "1.50"}]
        claims:
          - {id: c, text: t, relation: greater, test: sign, alpha: 0.05, comparisons: [{config: x, a: a, b: b}]}
        reference_values:
          - {method: m, source: s, transductive: no, values: [{config: x, cell: "*", metric: accuracy, value: "1"}]}
    """)

    def write(self, tmp_path, part, **changes):
        data = yaml.safe_load(yaml.safe_dump(self.GOOD))
        (data[part][0] if part else data).update(changes)
        path = tmp_path / "p.yaml"
        path.write_text(yaml.safe_dump(data))
        return path

    @pytest.mark.parametrize(
        ("part", "changes", "message"),
        [
            (None, {"papper": "p"}, "unknown key 'papper'; did you mean 'paper'"),
            ("values", {"value": 1.5}, r"values\.0\.value is 1\.5: must be a valid string: put it in quotes"),
            ("values", {"value": "1,5"}, r"values\.0\.value is '1,5': "),
            ("values", {"metric": "acuracy"}, "unknown metric 'acuracy'; did you mean 'accuracy'"),
            ("values", {"metric": "sign-z"}, "sign-z and error-ratio need a `pair`"),
            ("claims", {"relation": "better"}, r"claims\.0\.relation"),
            ("claims", {"relation": "equivalent", "test": None}, "the relation 'equivalent' needs margin"),
            ("claims", {"margin": "0.1"}, "needs no margin or range"),
            ("claims", {"rule": {"sides": 3}}, r"value of claims\.0\.rule\.sides: 3 \(allowed: 1, 2\)"),
            ("claims", {"comparisons": [{"config": "x", "a": "a{c}", "b": "b"}]}, r"comparisons\.0: .*not 'c'"),
            ("claims", {"comparisons": [{**PAIR, "metric": "macro-f2"}]}, "unknown metric 'macro-f2'"),
            ("reference_values", {"transductive": "perhaps"}, r"reference_values\.0\.transductive"),
        ],
    )
    def test_mistakes_are_named_with_file_and_place(self, tmp_path, part, changes, message):
        path = self.write(tmp_path, part, **changes)
        with pytest.raises(ConfigError, match=message) as caught:
            load_published(path)
        assert str(path) in str(caught.value)
