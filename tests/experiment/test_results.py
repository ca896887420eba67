"""Predictions come back from the disk as they were written, or not at all."""

from __future__ import annotations

import gzip
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.errors import BenchError, ConfigError, DataError
from benchmark.experiment.folder import MANIFEST, read_manifest, read_results, write_results
from benchmark.experiment.kinds import KINDS
from benchmark.experiment.manifest import manifest_of
from benchmark.experiment.results import COLUMNS, Results, gather
from benchmark.experiment.runner import run

PREDICTIONS = KINDS["table"].predictions
CLASSES = ("course", "faculty", "project", "student")
#: Paths decoded as latin-1: anything but NUL.
IDS = st.text(st.characters(max_codepoint=255, exclude_characters="\0"), min_size=1)
NASTY = ["course/http:^^y^\r", "a,b", 'say "this"', "two\nlines", "caf\xe9", " blank ", "NA", "1", "\r\n", "#x", "'"]


def results_of(experiment, ids, cells=("tf-l1-linear", "tf-l1-ngd"), failures=None):
    rng = np.random.default_rng(len(ids))
    rows = [
        (cell, f"fold-{number % 2}", name, *rng.choice(CLASSES, 2), int(rng.integers(2)))
        for cell in cells
        for number, name in enumerate(ids)
    ]
    return Results(experiment, pd.DataFrame(rows, columns=COLUMNS), failures or {}, {"base": {"documents": len(ids)}})


def write(results, folder):
    folder.mkdir(exist_ok=True)
    write_results(results, manifest_of(results, jobs=1, seconds=0.1), folder)
    return folder


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ids=st.lists(IDS, min_size=1, max_size=8, unique=True))
def test_come_back_whatever_the_documents_are_called(configured, tmp_path, ids):
    results = results_of(configured(), ids)
    back = read_results(write(results, tmp_path / "run"))
    pd.testing.assert_frame_equal(back.predictions, results.predictions)


def test_come_back_with_everything_else(configured, tmp_path):
    results = results_of(configured(), NASTY, failures={"tfidf-l1-ngd": 'texas: "no",\nsaid LIBSVM'})
    back = read_results(write(results, tmp_path / "run"))
    assert back.predictions["document"].tolist() == NASTY * 2
    assert back.failures == results.failures
    assert back.facts == results.facts
    assert back.experiment == results.experiment
    assert back.fold_names() == results.fold_names() == ["fold-0", "fold-1"]
    assert back.ties() == results.ties()
    for cell, outcome in results.outcomes().items():
        for field in ("documents", "folds", "truth", "predicted", "n_classes"):
            np.testing.assert_array_equal(getattr(back.outcomes()[cell], field), getattr(outcome, field))


def test_come_back_where_every_cell_failed(configured, tmp_path):
    failures = {cell.id: "cornell: no" for cell in configured().cells}
    results = Results(configured(), pd.DataFrame(columns=COLUMNS), failures, {"base": {}})
    back = read_results(write(results, tmp_path / "run"))
    assert back.predictions.empty
    assert list(back.predictions.columns) == COLUMNS
    assert back.failures == failures
    assert back.outcomes() == {}
    assert back.ties() == {}
    assert back.fold_names() == []


def test_bytes_depend_on_the_predictions_alone(configured, tmp_path):
    results = results_of(configured(), NASTY)
    one, other = tmp_path / "one", tmp_path / "a longer name"
    for folder, seconds in ((one, 1.0), (other, 99.0)):
        folder.mkdir()
        write_results(results, manifest_of(results, jobs=1, seconds=seconds), folder)
    content = (one / PREDICTIONS).read_bytes()
    assert content == (other / PREDICTIONS).read_bytes()
    assert content[3] == 0, "no name of a file in the header"
    assert content[4:8] == b"\0\0\0\0", "no time in the header"
    assert gzip.decompress(content).startswith(b'"cell","fold","document","truth","predicted","tie"\n')


class TestDamage:
    @pytest.fixture
    def folder(self, configured, tmp_path):
        return write(results_of(configured(), NASTY), tmp_path / "run")

    def test_a_flipped_byte_anywhere_in_the_predictions(self, folder):
        path = folder / PREDICTIONS
        whole = path.read_bytes()
        for position in range(len(whole)):
            for bits in (0x01, 0x80):
                content = bytearray(whole)
                content[position] ^= bits
                path.write_bytes(content)
                with pytest.raises(DataError, match=r"predictions\.csv\.gz: .*run the configuration again"):
                    read_results(folder)
        path.write_bytes(whole)
        read_results(folder)

    def test_predictions_cut_short(self, folder):
        path = folder / PREDICTIONS
        whole = path.read_bytes()
        for length in range(len(whole)):
            path.write_bytes(whole[:length])
            with pytest.raises(DataError, match="run the configuration again"):
                read_results(folder)

    @pytest.mark.parametrize("text", ["", "cell,fold\na,b\n", "tie\nx\n", "a,b,tie\n1,2,3\n"])
    def test_other_text_in_the_archive(self, folder, text):
        packed = gzip.compress(text.encode())
        (folder / PREDICTIONS).write_bytes(packed)
        with pytest.raises(DataError, match="predictions"):
            read_results(folder)
        manifest = json.loads((folder / MANIFEST).read_text())
        manifest["predictions"] = hashlib.sha256(packed).hexdigest()
        (folder / MANIFEST).write_text(json.dumps(manifest))
        with pytest.raises(DataError, match="predictions"):
            read_results(folder)

    def test_predictions_of_another_run(self, folder, configured, tmp_path):
        """As a run leaves them that is stopped between the two files."""
        other = write(results_of(configured(), NASTY[:-1]), tmp_path / "other")
        (folder / PREDICTIONS).write_bytes((other / PREDICTIONS).read_bytes())
        with pytest.raises(DataError, match=r"not the predictions that manifest\.json belongs to"):
            read_results(folder)

    @pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", "{}", '{"config": {}}', '{"config": {}, "failures"'])
    def test_manifests(self, folder, text):
        (folder / MANIFEST).write_text(text)
        with pytest.raises(DataError, match=r"manifest\.json"):
            read_results(folder)

    def test_a_manifest_that_is_no_text(self, folder):
        (folder / MANIFEST).write_bytes(b"\xff\xfe{}")
        with pytest.raises(DataError, match=r"manifest\.json"):
            read_manifest(folder)

    def test_a_manifest_whose_configuration_is_wrong(self, folder):
        manifest = json.loads((folder / MANIFEST).read_text())
        manifest["config"]["kernels"] = "ngd"
        (folder / MANIFEST).write_text(json.dumps(manifest))
        with pytest.raises(ConfigError, match=r"run/manifest\.json.*kernels"):
            read_results(folder)

    @pytest.mark.parametrize("name", [MANIFEST, PREDICTIONS])
    def test_missing_files(self, folder, name):
        (folder / name).unlink()
        with pytest.raises(BenchError, match=f"not the folder of a finished run.*{name} is missing") as caught:
            read_results(folder)
        assert not isinstance(caught.value, DataError)

    def test_a_folder_that_is_a_file(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(BenchError):
            read_results(tmp_path / "file")


class TestGather:
    @pytest.fixture(scope="class")
    @staticmethod
    def turned(configured, tmp_path_factory):
        """One cell on two variants that order and choose their classes otherwise."""
        from benchmark.experiment.store import Store  # noqa: PLC0415

        variants = {"turned": {"corpus": {"classes": ["student", "project", "course"]}}}
        cells = [{"variant": ["base", "turned"], "weighting": "tf", "normalization": "l1", "kernel": "ngd"}]
        experiment = configured(variants=variants, cells=cells)
        runs = run(experiment, Store(tmp_path_factory.mktemp("store")))
        return gather(experiment, runs), runs

    def test_rows_are_in_the_order_of_the_configuration(self, turned):
        table = turned[0].predictions
        assert list(table.columns) == COLUMNS
        assert table["cell"].drop_duplicates().tolist() == ["tf-l1-ngd", "turned-tf-l1-ngd"]
        assert table["fold"].drop_duplicates().tolist() == ["cornell", "texas"]

    def test_names_are_those_of_the_predictions(self, turned):
        results, runs = turned
        for cell in results.experiment.cells:
            result = runs[cell.variant]
            for split in result.splits:
                of = results.predictions
                rows = of[(of["cell"] == cell.id) & (of["fold"] == split.name)]
                predicted = result.predictions[cell.id][split.name].predicted
                assert rows["predicted"].tolist() == [result.documents.classes[code] for code in predicted]
                assert rows["document"].tolist() == [result.documents.ids[row] for row in split.test]
                assert [name.split("/")[0] for name in rows["document"]] == rows["truth"].tolist()

    def test_codes_of_outcomes_agree_between_variants(self, turned):
        """The same code is the same class and the same document, or no two cells could be compared."""
        results, _ = turned
        table, outcomes = results.predictions, results.outcomes()
        for column, field in (("truth", "truth"), ("predicted", "predicted"), ("document", "documents")):
            codes = {}
            for cell, outcome in outcomes.items():
                names = table.loc[table["cell"] == cell, column]
                for name, code in zip(names, getattr(outcome, field), strict=True):
                    assert codes.setdefault(name, code) == code
            assert len(set(codes.values())) == len(codes)
        assert {outcome.n_classes for outcome in outcomes.values()} == {4}

    def test_failed_cells_are_named_and_have_no_rows(self, configured, store):
        huge = {"weighting": "tf", "normalization": "none", "kernel": {"name": "polynomial", "degree": 400}}
        sound = {"weighting": "tf", "normalization": "l1", "kernel": "linear"}
        experiment = configured(cells=[huge, sound])
        results = gather(experiment, run(experiment, store))
        assert set(results.predictions["cell"]) == set(results.outcomes()) == {"tf-l1-linear"}
        assert set(results.failures) == {"tf-none-polynomial-degree400"}

    def test_a_cell_with_a_fold_missing_has_no_rows(self, configured, store):
        experiment = configured()
        runs = run(experiment, store)
        runs["base"].failures["tf-l1-ngd"] = "texas: no"
        del runs["base"].predictions["tf-l1-ngd"]["texas"]
        results = gather(experiment, runs)
        assert "tf-l1-ngd" not in set(results.predictions["cell"])
        assert len(results.outcomes()) == 3
