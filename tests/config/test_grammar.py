"""Whatever is written in the words of the grammar is an experiment, or is refused in lines that say where and what."""

from __future__ import annotations

import copy
import re

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.config.experiment import check_experiment, read_config
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.system.errors import ConfigError
from benchmark.system.yaml_source import Node

#: Entries whose cells have different names.
METHODS = [
    "linear",
    "ngd",
    "mnb",
    "eef",
    "hp-top",
    {"kernel": {"name": "plsi-fisher", "n_classes": [2, 3]}},
    {"kernel": ["ned", {"name": "rbf", "sigma": [0.5, 1]}]},
    {"kernel": {"name": "diffusion", "t": [0.5, 1, 2]}},
    {"weighting": ["tf", "tfidf"], "normalization": ["l1", "l2"], "kernel": "linear"},
    {"weighting": "tfidf", "idf": "training", "kernel": ["linear", "ngd"]},
    {"kernel": "ngd", "dirichlet": [0, 0.5]},
    {"kernel": "ngd", "classifier": {"C": [1, 10], "scheme": "one-vs-rest"}},
    {"classifier": {"name": "divergence-bayes", "centroid": ["mean", "skl"]}},
    {"classifier": "linear-svm", "weighting": "binary"},
    {"text": {"stoplist": ["none", "smart"], "min_documents": 2}, "kernel": "ngd"},
]
DEFAULTS = [{}, {"weighting": "tfidf"}, {"idf": "training"}, {"dirichlet": 0.5}, {"classifier": "svm"}]
PROTOCOLS = [
    {"name": "leave-one-group-out", "held_out": ["cornell", "texas"]},
    {"name": "fixed-split", "train": "misc", "test": "texas"},
    {"name": "k-fold", "k": 3},
    {"name": "random-subsets", "train_size": [40, 80], "replicates": 2},
    {"name": "random-subsets", "train_size": 60, "replicates": 2, "test": "texas"},
]
TASKS = [[], [["faculty", "course"]], [["faculty", "course"], {"title": "Largest", "largest": 3}]]
TERMS = [None, {"number": 10}, {"number": [10, 20], "aggregate": "average"}]
VARIANTS = [{}, {"x": {"text": {"digits": "token"}}}, {"x": {"protocol": {"seed": 3}}, "y": {"defaults": {"C": 2}}}]
CHOOSE = [None, {"by": "oracle"}, {"by": ["oracle", "cross-validation"], "folds": 3}]
FIGURES = [[], [{"name": "a", "y": "accuracy"}], [{"name": "a", "x": "C", "line": "variant"}]]
#: Parameters that these list.
GRID = {"sigma", "t", "C", "centroid"}
JUNK = [None, True, 0, -1, 2.5, float("nan"), "", "x", "ngd", "svm", "1e3", "a: b\nc", [], {}, ["a"], [[]], [5, "b"]]
JUNK += [{"name": "x"}, {"name": ["svm"]}, {"name": "svm"}, {1: 2}, {"a": {"b": None}}]

chosen = st.fixed_dictionaries(
    {
        "name": st.just("small"),
        "corpus": st.sampled_from(
            [{"name": "synthetic"}, {"name": "synthetic", "classes": ["faculty", "course", "student"]}]
        ),
        "protocol": st.sampled_from(PROTOCOLS),
        "tasks": st.sampled_from(TASKS),
        "terms": st.sampled_from(TERMS),
        "defaults": st.sampled_from(DEFAULTS),
        "variants": st.sampled_from(VARIANTS),
        "choose": st.sampled_from(CHOOSE),
        "figures": st.sampled_from(FIGURES),
        "per_class": st.booleans(),
        "gain": st.booleans(),
        "diagnostics": st.sampled_from([[], ["document-counts"]]),
        "compare": st.sampled_from([[], [["ngd", "linear"]]]),
    }
)
entries = st.lists(st.sampled_from(range(len(METHODS))), min_size=1, max_size=4, unique=True)


def written(data, methods):
    """The configuration as plain data, without what no such configuration can say."""
    said = {key: value for key, value in data.items() if value is not None}
    entries = [METHODS[index] for index in methods]
    sizes = isinstance(said["protocol"].get("train_size"), list)
    if not sizes:
        said.pop("gain", None)
    if not sizes and "terms" not in said:
        said.pop("figures", None)
    if not any(GRID & set(str(entry).split("'")) for entry in entries):
        said.pop("choose", None)
    if not {"linear", "ngd"} <= {entry for entry in entries if isinstance(entry, str)}:
        said.pop("compare", None)
    return copy.deepcopy({**said, "methods": entries})


def places(data, start=()):
    """Every place in plain data below its top."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*start, key)
        yield from places(value, (*start, key))


def outcome(source):
    """The experiment and no message, or the messages of a refusal."""
    try:
        return check_experiment(source, BUILTIN_REGISTRIES), ""
    except ConfigError as error:
        return None, str(error)


@settings(max_examples=150)
@given(data=st.data(), base=chosen, methods=entries)
def test_it_is_checked_or_refused_in_lines_that_begin_with_file_and_line(tmp_path_factory, data, base, methods):
    config = written(base, methods)
    for _ in range(data.draw(st.integers(0, 2))):
        *above, last = data.draw(st.sampled_from([place for place in places(config) if place != ("name",)]))
        holder = config
        for key in above:
            holder = holder[key]
        what = data.draw(st.sampled_from(["instead", "beside", "away"]))
        if what == "away":
            del holder[last]
        elif what == "instead" or isinstance(holder, list):
            holder[last] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
        else:
            holder[data.draw(st.sampled_from(["kind", "name", "kernel", "x", 7]))] = copy.deepcopy(
                data.draw(st.sampled_from(JUNK))
            )
    path = tmp_path_factory.getbasetemp() / "random.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    experiment, message = outcome(read_config(path))
    lines = message.split("\n") if message else []
    assert all(re.match(rf"{path}:[1-9]\d*: \S", line) for line in lines), message
    assert lines or len(set(experiment.ids)) == len(experiment.ids) > 0


@settings(max_examples=60)
@given(base=chosen, methods=entries, more=entries, position=st.integers(0, 4))
def test_another_method_renames_no_cell_and_changes_none(base, methods, more, position):
    choose = written(base, methods).get("choose")
    base = {**base, "compare": [], "figures": [], "choose": choose}
    one = written(base, methods)
    multilabel = written(
        base, [*methods[:position], *(index for index in more if index not in methods), *methods[position:]]
    )
    before, after = (outcome(Node.of_data(data, "x"))[0] for data in (one, multilabel))
    if before is None or after is None:
        return
    assert [name for name in after.ids if name in before.ids] == list(before.ids)
    for name, variant in before.variants.items():
        entries_after = {entry.label: entry for entry in after.variants[name].entries}
        assert all(entries_after[entry.label] == entry for entry in variant.entries)
