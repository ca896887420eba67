"""Runs of a user's own documents whose numbers or sentences could be wrong without a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import yaml
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.evaluation.intervals import wilson

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("sketched", "users_code_here")
WORDS = {"billing": ["invoice", "refund", "card"], "login": ["password", "locked", "reset"]}
WORDS |= {"crash": ["freeze", "bug", "restart"]}
MODELS = """
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def named():
    weights = {"crash": 9, "login": 1, "billing": 0.01}
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight=weights))


def searched():
    return GridSearchCV(named(), {"logisticregression__C": [1.0]}, cv=2)


def mistyped():
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight={"crush": 9}))


def numbered():
    return make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight={0: 9, 1: 1, 2: 1}))


def unnamed():
    return make_pipeline(TfidfVectorizer(tokenizer=lambda text: text.split(), token_pattern=None), LinearSVC())


def inorder():
    return make_pipeline(TfidfVectorizer(), LinearSVC())
"""


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a command in a folder with documents and a configuration; return its exit code and what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "models.py").write_text(MODELS)

    def run(*command: str, methods: Any, protocol: Any = "fixed-split", **more: Any) -> tuple[int, str]:
        corpus = {"name": "files", "path": "own.csv", "id": "id"} | (
            {"split": "split"} if protocol == "fixed-split" else {}
        )
        content = {
            "name": "own",
            "corpus": corpus,
            "text": {"stoplist": "none"},
            "protocol": protocol,
            "methods": methods,
        }
        (tmp_path / "own.yaml").write_text(yaml.safe_dump(content | more))
        done = CliRunner().invoke(app, [command[0], "own.yaml", *command[1:]])
        return done.exit_code, done.output

    return run


def documents(
    n: int = 90, seed: int = 0, classes: tuple[str, ...] = ("billing", "crash", "login"), clear: int = 3
) -> pd.DataFrame:
    """Documents of which every third is tested; `clear` of five words are of their class, the others of any."""
    rng = np.random.default_rng(seed)
    labels = [classes[i % len(classes)] for i in range(n)]
    every = [word for words in WORDS.values() for word in words]
    texts = [" ".join([*rng.choice(WORDS[own], clear), *rng.choice(every, 5 - clear)]) for own in labels]
    return pd.DataFrame(
        {"id": range(n), "text": texts, "label": labels, "split": np.where(rng.random(n) < 1 / 3, "test", "train")}
    )


class TestIntervals:
    @pytest.mark.parametrize("protocol", [{"name": "k-fold", "k": 2}, {"name": "hold-out", "replicates": 3}])
    def test_of_splits_without_an_error_are_wilsons(self, bench: Any, tmp_path: Path, protocol: Any) -> None:
        documents(40, classes=("billing", "login"), clear=5).to_csv("own.csv", index=False)
        code, said = bench("run", methods=["mnb"], protocol=protocol)
        assert code == 0, said
        scores = pd.read_csv(tmp_path / "results/runs/own/scores.csv")
        row = scores[(scores["fold"] == "all") & (scores["metric"] == "accuracy")].iloc[0]
        assert row["value"] == 1
        if protocol["name"] == "k-fold":
            assert (row["low"], row["high"]) == pytest.approx(wilson(40, 40))
            assert "95% interval 91.24 to 100.00" in said
        assert 0.6 < row["low"] < 0.95
        assert "100.00 to 100.00" not in said
        table = (tmp_path / "results/runs/own/table.md").read_text()
        assert "[100.00, 100.00]" not in table


class TestMeansOverClasses:
    def test_leave_out_a_class_without_a_tested_document_as_scikit_learn_does(self, bench: Any, tmp_path: Path) -> None:
        own = documents()
        own.loc[own["label"] == "crash", "split"] = "train"
        own.to_csv("own.csv", index=False)
        code, said = bench(
            "run", methods=["mnb", {"name": "svm", "classifier": "linear-svm"}], metrics=["accuracy", "macro-f1"]
        )
        assert code == 0, said
        assert "No document of crash is tested" in said
        assert "No document of crash is tested" in (tmp_path / "results/runs/own/report.html").read_text()
        predicted = pd.read_parquet(tmp_path / "results/runs/own/predictions.parquet")
        scores = pd.read_csv(tmp_path / "results/runs/own/scores.csv")
        for cell in ("mnb", "svm"):
            rows = predicted[predicted["cell"] == cell]
            ours = scores[(scores["cell"] == cell) & (scores["fold"] == "all") & (scores["metric"] == "macro-f1")]
            expected = f1_score(rows["label"].astype(str), rows["predicted"].astype(str), average="macro")
            assert ours["value"].item() == pytest.approx(expected)


class TestClassWeights:
    def predicted(self, tmp_path: Path, cell: str) -> list[str]:
        frame = pd.read_parquet(tmp_path / "results/runs/own/predictions.parquet")
        return list(frame.loc[frame["cell"] == cell, "predicted"].astype(str))

    def test_are_by_name_in_a_pipeline_a_search_and_a_classifier(self, bench: Any, tmp_path: Path) -> None:
        """As scikit-learn's own estimator, which has the names as labels, predicts with them."""
        own = documents(clear=1)
        own.to_csv("own.csv", index=False)
        weights = {"crash": 9, "login": 1, "billing": 0.01}
        library = {"name": "sklearn.linear_model.LogisticRegression", "class_weight": weights}
        pipelines = [{"name": name, "pipeline": f"models.py:{name}"} for name in ("named", "searched")]
        code, said = bench("run", methods=[*pipelines, {"name": "library", "weighting": "tf", "classifier": library}])
        assert code == 0, said
        train, test = own[own["split"] == "train"], own[own["split"] == "test"]
        expected = make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight=weights)).fit(
            train["text"], train["label"]
        )
        for cell in ("named", "searched"):
            assert self.predicted(tmp_path, cell) == list(expected.predict(test["text"]))
        counts = make_pipeline(CountVectorizer(), LogisticRegression(class_weight=weights)).fit(
            train["text"], train["label"]
        )
        assert set(counts.predict(test["text"])) == {"crash", "login"}
        assert set(self.predicted(tmp_path, "library")) == {"crash", "login"}

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("mistyped", "unknown class 'crush'; did you mean 'crash'?"),
            ("numbered", "unknown class '0' (allowed: billing, crash, login)"),
        ],
    )
    def test_of_no_class_are_refused_with_the_classes(self, bench: Any, name: str, words: str) -> None:
        documents().to_csv("own.csv", index=False)
        code, said = bench("run", methods=["mnb", {"name": "theirs", "pipeline": f"models.py:{name}"}])
        assert code == 1
        assert f"class_weight: {words}" in said


class TestKeptModels:
    def test_one_that_cannot_be_loaded_again_is_never_written(self, bench: Any, tmp_path: Path) -> None:
        documents().to_csv("own.csv", index=False)
        methods = [{"name": name, "pipeline": f"models.py:{name}"} for name in ("unnamed", "inorder")]
        code, said = bench("fit", "--cell", "unnamed", "--out", "kept", methods=methods)
        assert code == 2
        assert "Written" not in said
        assert "models.py" in said
        assert "has no attribute '<lambda>'" in said
        assert not any((tmp_path / "kept").iterdir())
        code, said = bench("fit", "--cell", "inorder", "--out", "kept", methods=methods)
        assert (code, "Written to kept" in said) == (0, True), said


class TestFirstLine:
    METHODS: ClassVar[list[Any]] = [
        {"name": "one", "classifier": "mnb"},
        {"name": "two", "classifier": {"name": "mnb", "smoothing": 1.0000001}},
        {"name": "three", "weighting": "tfidf", "classifier": "linear-svm"},
    ]

    @pytest.mark.parametrize("order", [1, -1])
    def test_two_that_never_differ_are_said_to_in_any_order(self, bench: Any, order: int) -> None:
        documents(120, clear=0).to_csv("own.csv", index=False)
        compare = [["one", "two"], ["one", "three"]][::order]
        code, said = bench("run", methods=self.METHODS[::order], protocol={"name": "k-fold", "k": 6}, compare=compare)
        assert code == 0, said
        assert said.startswith("Use one: accuracy 32.50% (95% interval 24.17 to 40.83). ")
        outcome = "1 shows no clear difference, 1 never differs."
        assert f"No method that is compared with it is clearly better: {outcome}" in said
        assert "too few splits" not in said
        assert " is better" not in said

    def test_a_test_of_another_quantity_does_not_stand_beside_an_interval(self, bench: Any, tmp_path: Path) -> None:
        documents(90, clear=0).to_csv("own.csv", index=False)
        code, said = bench("run", methods=self.METHODS, metrics=["macro-f1"], compare=[["one", "three"]])
        assert code == 0, said
        assert "no test of this quantity" in said.partition("\n")[0]
        assert "planned comparison" not in said
        page = (tmp_path / "results/runs/own/report.html").read_text()
        assert "no test of this quantity" in page
