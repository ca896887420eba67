import math
from collections import Counter
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

from benchmark.errors import ConfigError
from benchmark.evaluation.intervals import Estimate
from benchmark.evaluation.published import (
    Claim,
    Comparison,
    Evidence,
    Published,
    PublishedRange,
    PublishedValue,
    judge_claim,
    judge_value,
    load_published,
)
from benchmark.evaluation.significance import TestResult as Result

PUBLISHED = Path(__file__).parents[2] / "results" / "published"


def estimate(value, low=None, high=None):
    return Estimate(value, value if low is None else low, value if high is None else high, 100, "bootstrap")


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*.yaml")), ids=lambda path: path.stem)
def test_every_paper_can_be_read(path):
    assert load_published(path).paper == path.stem


class TestZhang2005:
    @pytest.fixture(scope="class", name="paper")
    @staticmethod
    def read():
        return load_published(PUBLISHED / "zhang2005.yaml")

    def test_has_every_number_of_the_three_tables(self, paper):
        assert Counter((v.table, v.config) for v in paper.values) == {
            (1, "webkb"): 10, (2, "20ng"): 10, (3, "webkb"): 4, (3, "20ng"): 4,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("config", "weighting", "printed"),
        [
            ("webkb", "tf", "72.57 84.39 91.88 89.52 90.08"),
            ("webkb", "tfidf", "55.84 81.04 91.42 88.23 87.96"),
            ("20ng", "tf", "24.68 69.16 81.94 79.76 79.76"),
            ("20ng", "tfidf", "21.47 72.20 84.61 82.33 82.06"),
        ],
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

    def test_claims(self, paper):
        assert {claim.id: len(claim.comparisons) for claim in paper.claims} == {
            "ngd-best": 8, "mcnemar-agrees": 8, "ned-like-lin-l2": 4, "ned-above-lin-l1": 4, "ngd-best-at-every-c": 56,
        }  # fmt: skip

    def test_the_two_claims_on_ngd_compare_the_same_cells_as_table_3(self, paper):
        of = {claim.id: set(claim.comparisons) for claim in paper.claims}
        table_3 = {Comparison(config=v.config, a=v.pair[0], b=v.pair[1]) for v in paper.values if v.table == 3}
        assert of["ngd-best"] == of["mcnemar-agrees"] == table_3

    def test_templates_fill_in(self, paper):
        every_c = next(claim for claim in paper.claims if claim.id == "ngd-best-at-every-c").comparisons
        assert Comparison(config="webkb-c", a="tf-l1-ngd-c0.001", b="tf-l2-ned-c0.001") in every_c
        assert Comparison(config="20ng-c", a="tfidf-l1-ngd-c1000", b="tfidf-l2-linear-c1000") in every_c


class TestValueVerdict:
    @pytest.mark.parametrize(
        ("printed", "ours", "verdict"),
        [
            ("91.88", (0.91876, 0.90, 0.93), "exact"),
            ("91.88", (0.918751, 0.9187, 0.9188), "exact"),
            ("91.88", (0.91885, 0.90, 0.93), "exact"),  # half-way rounds to either
            ("91.88", (0.91875, 0.90, 0.93), "exact"),
            ("91.88", (0.9189, 0.90, 0.93), "reproduced"),
            ("91.88", (0.9300, 0.9188, 0.94), "reproduced"),
            ("91.88", (0.9300, 0.9189, 0.94), "deviates"),
            ("91.88", (0.9000, 0.89, 0.91), "deviates"),
            ("92", (0.9249, 0.92, 0.93), "exact"),
            ("72.20", (0.7224, 0.723, 0.73), "deviates"),  # a printed zero is a digit
        ],
    )
    def test_comes_from_the_data(self, printed, ours, verdict):
        value = PublishedValue(table=1, config="webkb", cell="a", metric="accuracy", value=printed, unit="percent")
        judged = judge_value(value, estimate(*ours))
        assert judged.verdict == verdict
        assert judged.difference == pytest.approx(100 * ours[0] - float(printed))

    def test_takes_numpys_numbers(self):
        value = PublishedValue(table=1, config="webkb", cell="a", metric="accuracy", value="50.0", unit="percent")
        assert judge_value(value, estimate(np.float64(0.5))).verdict == "exact"

    def test_z_is_not_a_percentage(self):
        value = PublishedValue(table=3, config="webkb", pair=("a", "b"), metric="sign-z", value="4.2500")
        assert judge_value(value, estimate(4.25)).verdict == "exact"
        assert judge_value(value, estimate(3.2, 1.5, 4.9)).verdict == "reproduced"


def make_claim(n=3, relation="greater", test="sign", alpha=0.05):
    comparisons = [{"for": {"i": [str(i) for i in range(n)]}, "config": "webkb", "a": "a{i}", "b": "b{i}"}]
    return Claim.model_validate(
        {"id": "c", "text": "t", "relation": relation, "test": test, "alpha": alpha, "comparisons": comparisons}
    )


def make_evidence(claim, p_values, difference=0.02, favours="a"):
    evidence = {}
    for comparison, p in zip(claim.comparisons, p_values, strict=False):
        side = {"a": comparison.a, "b": comparison.b}[favours]
        result = Result(comparison.a, comparison.b, claim.test, 9, math.nan, p, side)
        evidence[comparison] = Evidence(estimate(difference), result)
    return evidence


class TestClaimVerdict:
    @pytest.mark.parametrize(
        ("p_values", "verdict"),
        [
            ([0.001, 0.002, 0.003], "holds"),
            ([0.001, 0.002, 0.2], "holds in part (2 of 3)"),
            ([0.02, 0.02, 0.02], "fails"),  # each by itself is below 0.05; Holm makes them 0.06
            ([0.3, 0.2, 0.1], "fails"),
            ([0.001, 0.001], "not tested (1 of 3 missing)"),
            ([], "not tested (3 of 3 missing)"),
            ([0.001, None], "not tested (1 of 3 missing, 1 of 3 not testable)"),
        ],
    )
    def test_greater(self, p_values, verdict):
        claim = make_claim()
        assert judge_claim(claim, make_evidence(claim, p_values)).verdict == verdict

    def test_greater_needs_the_right_direction(self):
        claim = make_claim()
        assert judge_claim(claim, make_evidence(claim, [1e-9] * 3, favours="b")).verdict == "fails"
        assert judge_claim(claim, make_evidence(claim, [1e-9] * 3, difference=-0.02)).verdict == "fails"

    def test_indistinguishable_gains_nothing_from_the_correction(self):
        claim = make_claim(relation="indistinguishable")
        assert judge_claim(claim, make_evidence(claim, [0.3, 0.2, 0.05])).verdict == "holds"
        assert judge_claim(claim, make_evidence(claim, [0.3, 0.2, 0.04])).verdict == "holds in part (2 of 3)"

    def test_without_a_test_the_score_decides(self):
        claim = make_claim(test=None)
        differences = [0.1, 0.0, -0.1]
        evidence = {c: Evidence(estimate(d), None) for c, d in zip(claim.comparisons, differences, strict=True)}
        judged = judge_claim(claim, evidence)
        assert judged.verdict == "holds in part (1 of 3)"
        assert [each.verdict for each in judged.comparisons] == ["holds", "fails", "fails"]

    def test_shows_the_correction_and_keeps_the_order(self):
        claim = make_claim()
        judged = judge_claim(claim, dict(reversed(make_evidence(claim, [0.001, 0.002, 0.003]).items())))
        assert tuple(each.comparison for each in judged.comparisons) == claim.comparisons
        assert [each.evidence.test.p_holm for each in judged.comparisons] == pytest.approx([0.003, 0.004, 0.004])

    def test_refuses_the_evidence_of_another_test(self):
        claim, other = make_claim(), make_claim(test="mcnemar")
        with pytest.raises(ValueError, match="'sign'"):
            judge_claim(claim, make_evidence(other, [0.1, 0.1, 0.1]))


class TestFile:
    GOOD = yaml.safe_load("""
        paper: p
        title: t
        reference: r
        values: [{table: 1, config: webkb, cell: a, metric: accuracy, value: "1.50", unit: percent}]
        claims:
          - {id: c, text: t, relation: greater, test: sign, alpha: 0.05, comparisons: [{config: x, a: a, b: b}]}
    """)

    def write(self, tmp_path, part, **changes):
        data = yaml.safe_load(yaml.safe_dump(self.GOOD))
        (data[part][0] if part else data).update(changes)
        path = tmp_path / "p.yaml"
        path.write_text(yaml.safe_dump(data))
        return path

    def test_good(self, tmp_path):
        assert isinstance(load_published(self.write(tmp_path, "values")), Published)

    @pytest.mark.parametrize(
        ("part", "changes", "message"),
        [
            (None, {"papper": "p"}, "papper: Extra inputs"),
            ("values", {"cel": "a"}, r"values\.0\.cel: Extra inputs"),
            ("values", {"value": 1.5}, r"values\.0\.value: .*valid string"),
            ("values", {"value": "1,5"}, "not a number as it is printed"),
            ("values", {"value": "nan"}, "not a number as it is printed"),
            ("values", {"metric": "acuracy"}, "no metric 'acuracy'"),
            ("values", {"metric": "sign-z"}, "sign-z and error-ratio are of a pair"),
            ("values", {"pair": ["a", "b"]}, "sign-z and error-ratio are of a pair"),
            ("claims", {"relation": "better"}, r"claims\.0\.relation"),
            ("claims", {"alpha": 1}, r"claims\.0\.alpha"),
            ("claims", {"relation": "indistinguishable", "test": None}, "needs a test"),
            ("claims", {"comparisons": []}, "needs a comparison"),
            ("claims", {"comparisons": [{"config": "x", "a": "a{c}", "b": "b"}]}, r"comparisons\.0: .*not 'c'"),
            ("claims", {"comparisons": [{"config": "x", "a": "a", "b": "b"}] * 2}, "comparison given more than once"),
            ("claims", {"comparisons": [{"for": {"c": [1]}, "config": "x", "a": "a", "b": "b"}]}, "valid string"),
        ],
    )
    def test_mistakes_are_named_with_file_and_place(self, tmp_path, part, changes, message):
        path = self.write(tmp_path, part, **changes)
        with pytest.raises(ConfigError, match=message) as caught:
            load_published(path)
        assert str(path) in str(caught.value)

    def test_no_value_or_claim_twice(self, tmp_path):
        for part in ("values", "claims"):
            data = {**self.GOOD, part: self.GOOD[part] * 2}
            path = tmp_path / "p.yaml"
            path.write_text(yaml.safe_dump(data))
            with pytest.raises(ConfigError, match="given more than once"):
                load_published(path)

    def test_neither_there_nor_yaml(self, tmp_path):
        with pytest.raises(ConfigError, match="no such file"):
            load_published(tmp_path / "none.yaml")
        (tmp_path / "bad.yaml").write_text("a: [")
        with pytest.raises(ConfigError, match="not YAML"):
            load_published(tmp_path / "bad.yaml")


class TestRange:
    RANGE: ClassVar = {
        "figure": 2,
        "config": "c",
        "cells": "{kernel}-{size}",
        "for": {"kernel": ["a", "b"], "size": ["1", "2"]},
        "metric": "error",
        "low": "0.02",
        "high": "0.18",
    }

    def test_names_every_combination_once(self):
        assert PublishedRange.model_validate(self.RANGE).expanded == ("a-1", "a-2", "b-1", "b-2")

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"low": "0.18"}, "must ascend"),
            ({"low": "a"}, "not a number as it is printed"),
            ({"cells": "{krenel}"}, "the braces may hold"),
            ({"cells": "{kernel}"}, "more than once"),
            ({"metric": "errors"}, "no metric"),
            ({"hihg": "1"}, "hihg"),
        ],
    )
    def test_mistakes_are_refused(self, changes, message):
        with pytest.raises(ValidationError, match=message):
            PublishedRange.model_validate(self.RANGE | changes)


@pytest.mark.parametrize(
    ("gap", "favoured", "verdict"), [(-0.1, "a", "holds"), (0.1, "b", "fails"), (0.0, None, "fails")]
)
def test_lower_is_for_scores_of_which_less_is_better(gap, favoured, verdict):
    claim = Claim.model_validate(
        {
            "id": "x",
            "text": "",
            "relation": "lower",
            "metric": "error",
            "test": "wilcoxon",
            "alpha": 0.05,
            "comparisons": [{"config": "c", "a": "a", "b": "b"}],
        }
    )
    test = Result("a", "b", "wilcoxon", 20, 0.0, 1e-6, favoured)
    evidence = {claim.comparisons[0]: Evidence(Estimate(gap, gap - 0.01, gap + 0.01, 20, ""), test)}
    assert judge_claim(claim, evidence).verdict == verdict
