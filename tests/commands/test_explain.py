"""What is told of a number agrees with the run's files, and with other ways to the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from benchmark.analysis.hardest_documents import DocumentExplanation
from benchmark.commands.explain import MAX_TEXT_CHARACTERS, _Account, explain_cell
from benchmark.commands.explanation.account import N_TOP_TERMS, CellAccount, _nearest, shorten_text
from benchmark.evaluation.predictions import METHOD_TIMERS
from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.run import run_and_write
from benchmark.experiment.run_folder import read_run
from benchmark.experiment.store import Store
from benchmark.kernels import KERNELS
from benchmark.system.errors import ConfigError, DataError

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.analysis.formatting.table import Table
    from benchmark.experiment.run import RunResult

CONFIG = """
name: told
corpus: {name: synthetic}
text: {skip_header: true, skip_html: true, stoplist: none, min_occurrences: 2}
protocol: {name: leave-one-group-out, held_out: [cornell, texas]}
choose: {by: cross-validation, folds: 3, grid_keys: [text]}
methods:
  - {normalization: l2, kernel: linear, classifier: {C: [0.1, 10]}}
  - mnb
  - {kernel: ngd}
  - {text: {min_occurrences: [100, 50], stoplist: smart}, kernel: ngd}
  - {name: words, weighting: tfidf, classifier: linear-svm}
  - {fuse: [mnb, words], name: both}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"), limit=10**9)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, store: Store) -> RunResult:
    folder = tmp_path_factory.mktemp("told")
    (folder / "told.yaml").write_text(CONFIG)
    return run_and_write(load_checked(folder / "told.yaml"), RunContext(store), folder=folder / "run")


def parts(told: RunResult, cell: str, store: Store, **how: object) -> dict[str, Table]:
    return {part.title: part for part in explain_cell(told.folder, cell, RunContext(store), **how)}  # type: ignore[arg-type]


@pytest.mark.parametrize("cell", ["l2-linear-cv", "mnb-cv", "ngd-cv", "stoplist-smart-ngd-cv"])
def test_scores_and_confusions_are_those_of_the_files(told: RunResult, store: Store, cell: str) -> None:
    found = parts(told, cell, store)
    scores = pd.read_csv(told.folder / "scores.csv")
    own = scores[(scores["cell"] == cell) & (scores["metric"] == "accuracy")].set_index("fold")["value"]
    for name, shown, *_ in found["Scores"].rows:
        expected = own["all"] if str(name).startswith("all") else own[name]
        assert float(shown) == pytest.approx(expected)
    confusions = told.summary.confusions
    wrong = confusions[(confusions["cell"] == cell) & (confusions["truth"] != confusions["predicted"])]
    sums = {(each.truth, each.predicted): each.n for each in wrong.itertuples() if each.n}
    ranked = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    assert list(found["Confusions"].rows) == [(*pair, n) for pair, n in ranked[:10]]
    *splits, whole = found["Scores"].rows
    tested = confusions[confusions["cell"] == cell]["n"].sum()
    assert whole[3:] == (tested, None, sum(row[5] for row in splits))
    assert tested == sum(row[3] for row in splits)
    low, high = (
        scores[(scores["cell"] == cell) & (scores["metric"] == "accuracy") & (scores["fold"] == "all")][end].item()
        for end in ("low", "high")
    )
    assert whole[2] == pytest.approx((low, high))


def test_what_it_is_made_of_names_every_choice_and_the_line_that_runs_it_again(told: RunResult, store: Store) -> None:
    rows = dict(parts(told, "l2-linear-cv", store)["l2-linear-cv"].rows)
    assert rows["command"] == "bench run told --only l2-linear-cv"
    assert {"cornell", "texas"} <= set(rows["chosen"].replace("(", " ").replace(")", " ").split())
    assert rows["documents"] == "600 of 4 classes"


def test_what_has_a_text_of_its_own_is_told_by_that(told: RunResult, store: Store) -> None:
    of, title = [dict(parts(told, c, store)[c].rows) for c in ("ngd-cv", "stoplist-smart-ngd-cv")], "pruning"
    assert [each["lexing"].split("stoplist ")[1][:5] for each in of] == ["none;", "smart"]
    assert "min occurrences 2;" in of[0][title]
    assert "min occurrences 50;" in of[1][title] or "min occurrences 100;" in of[1][title]
    words = r"[\d,]+ distinct, [\d,]+ in all; a word has at least 2 letters"
    assert all(re.fullmatch(words, each["words"]) for each in of)
    different = [int(each["words"].split()[0].replace(",", "")) for each in of]
    assert different[1] < different[0] / 2


def test_neighbours_are_the_training_documents_with_the_largest_values(told: RunResult, store: Store) -> None:
    experiment = load_checked(told.folder.parent / "told.yaml")
    counts, _, _ = read_counts(experiment.variants["base"].collection, RunContext(store))
    ids = counts.documents.ids
    shown = list(parts(told, "l2-linear-cv", store, shown=3).items())[-3:]
    assert len(shown) == 3
    for title, part in shown:
        row = ids.index(title.partition(" (wrong")[0])
        train = np.flatnonzero(counts.documents.parts != counts.documents.parts[row])
        values = cosine_similarity(counts.matrix[[row]], counts.matrix[train])[0]
        best = train[np.argsort(-values, kind="stable")[:3]]
        near = [text.split(": ", 1)[1] for what, text in part.rows if what == "nearest document"]
        assert near == [ids[each] for each in best]


@pytest.mark.parametrize("cell", ["l2-linear-cv", "mnb-cv", "ngd-cv", "stoplist-smart-ngd-cv", "both-cv"])
def test_what_was_given_has_the_largest_value_and_its_words_stand_in_the_text(
    told: RunResult, store: Store, cell: str
) -> None:
    for title, part in list(parts(told, cell, store, shown=2).items())[-2:]:
        rows = dict(part.rows)
        assert "wrong" in title
        assert rows["decision values"].split()[0] == rows["predicted"].partition(",")[0]
        assert rows["true"] in rows["decision values"]
        words = rows[f"words for {rows['decision values'].split()[0]}"].split(", ")
        assert all(word in rows["text"].lower() for word in words[:2])


def test_one_document_is_told_with_its_text_and_what_was_given(told: RunResult, store: Store) -> None:
    name = "student/cornell/http:^^www.cornell.example^student^002.html"
    part = parts(told, "mnb-cv", store, document=name)[name]
    rows = dict(part.rows)
    assert (rows["true"], rows["split"]) == ("student", "cornell")
    assert "<html>" not in rows["text"]  # which the lexer skips, as the header
    assert "Content-Type" not in rows["text"]
    assert "muda" in rows["text"]


@pytest.mark.parametrize(
    ("cell", "document", "said"),
    [("mnb-vc", None, "did you mean 'mnb-cv'"), ("mnb-cv", "student/x", "unknown tested document 'student/x'")],
)
def test_what_there_is_none_of_is_refused(
    told: RunResult, store: Store, cell: str, document: str | None, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        parts(told, cell, store, document=document)


def test_own_files_are_found_again_and_refused_once_they_have_changed(tmp_path: Path, store: Store) -> None:
    rows = [{"text": f"{word} number {n}", "label": word} for n in range(20) for word in ("alpha", "beta")]
    rows += [{"text": "beta beta", "label": "alpha"}] * 3
    data, config = tmp_path / "data" / "own.jsonl", tmp_path / "own.yaml"
    data.parent.mkdir()
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    config.write_text(
        "name: own\ncorpus: {name: files, path: data/own.jsonl}\ntext: {stoplist: none}\n"
        "protocol: {name: k-fold, k: 3}\nmethods: [mnb]\n"
    )
    done = run_and_write(load_checked(config), RunContext(store), folder=tmp_path / "run")
    parts = [part for part in explain_cell(done.folder, "mnb", RunContext(store)) if "wrong" in part.title]
    told, document = [dict(part.rows) for part in parts], parts[0].title.partition(" (wrong")[0]
    assert told
    assert {each["text"] for each in told} == {"beta beta"}
    data.write_text(data.read_text().replace("number 3", "number three"))
    found = explain_cell(done.folder, "mnb", RunContext(store))
    assert [next(found).title for _ in range(3)] == ["mnb", "Scores", "Confusions"]  # told without the documents
    assert re.search("aren't in the folder: .*changed since the run", next(found).empty)
    with pytest.raises(DataError, match="changed since the run"):
        list(explain_cell(done.folder, "mnb", RunContext(store), document=document))


def prediction(truth: str, given: str, name: str) -> Any:
    return SimpleNamespace(truth=(truth,), given=(given,), document=name, right=truth == given)


@pytest.mark.parametrize("seed", range(5))
def test_examples_are_one_of_each_confusion_the_most_frequent_first_then_the_second_of_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = [prediction(*rng.choice([*"abc"], 2), str(n)) for n in range(40)]
    of_pair: dict[Any, list[Any]] = {}
    for each in made:
        if not each.right:
            of_pair.setdefault((each.truth, each.given), []).append(each)
    for shown in (0, 1, 4, 9, 100):
        found = _Account.wanted(SimpleNamespace(), made, None, shown)  # type: ignore[arg-type]
        assert len(found) == min(shown, sum(map(len, of_pair.values())))
        places = [
            (of_pair[each.truth, each.given].index(each), -len(of_pair[each.truth, each.given])) for each in found
        ]
        assert places == sorted((n, -len(own)) for own in of_pair.values() for n in range(len(own)))[:shown]
        assert len({each.document for each in found}) == len(found)


def test_confusions_are_the_ten_most_frequent_and_of_equally_many_the_first_by_name() -> None:
    pairs = [(a, b) for a in "abcd" for b in "abcde" if a != b]
    made = [prediction(a, b, "") for n, (a, b) in enumerate(pairs) for _ in range(1 + n % 3)]
    table = _Account.confusion(SimpleNamespace(), made[::-1])  # type: ignore[arg-type]
    ranked = sorted(((-(1 + n % 3), pair) for n, pair in enumerate(pairs)))[:10]
    assert list(table.rows) == [(*pair, -n) for n, pair in ranked]
    assert _Account.confusion(SimpleNamespace(), []).empty == "every document is classified correctly"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["bench", "run", "configs/told.yaml"], "configs/told.yaml"),
        (["bench", "run", "other.yaml", "configs/told.yaml"], "configs/told.yaml"),
        (["bench", "run", "other.yaml"], "other.yaml"),
        (["bench", "run", "a.yaml", "b.yaml"], "told"),
        (["bench", "run", "told"], "told"),
        ([], "told"),
    ],
)
def test_the_configuration_is_called_as_the_command_called_it(command: list[str], expected: str) -> None:
    account = SimpleNamespace(manifest={"name": "told", "command": command})
    assert _Account._config(account) == expected  # type: ignore[arg-type]


def test_what_a_cell_is_made_of_has_its_axes_seconds_and_memory(told: RunResult) -> None:
    run = read_run(told.folder)
    cell = next(each for each in run.experiment.cells if each.id == "ngd-cv")
    account = _Account(run, cell, told.folder)
    seconds = np.array([[1.0, 0.004, 0.002, 0.0, 2.5, 0.0], [0.25, 0.0, 0.002, 0.0, 1.0, 0.006]])
    account.predictions = replace(account.predictions, seconds=seconds, memory=np.array([2e8, np.nan]))
    for size, terms in ((None, None), (40, None), (None, 1000), (1500, 9)):
        account.cell = replace(cell, size=size, terms=terms)
        ((rows),) = [dict(part.rows) for part in account.made_of()]
        assert (rows.get("training size"), rows.get("terms")) == (
            None if size is None else f"{size:,}",
            None if terms is None else f"{terms:,}",
        )
        sums = dict(zip(METHOD_TIMERS, seconds.sum(axis=0), strict=False))
        assert rows["seconds"] == ", ".join(f"{part} {n:.2f}" for part, n in sums.items() if round(n, 3) >= 0.005)
        assert rows["memory"] == "200 MB at the peak"
        assert "chosen" not in rows


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("tied", [True, False])
def test_a_document_is_told_with_all_that_is_known_of_it(*, right: bool, tied: bool) -> None:
    given = "a" if right else "b"
    each = SimpleNamespace(truth=("a",), given=(given,), document="d", right=right, tied=tied, fold="texas")
    whole = DocumentExplanation(
        "the text", "ngd", "b 2, a 1", words={"b": ("x", "y"), "a": ()}, similarity="cosine", nearest=[("n", "a", 0.5)]
    )
    head = [("true", "a"), ("predicted", f"{given}, after a tie" if tied else given), ("split", "texas")]
    text = ("text", "the text")
    words = [("words for b", "x, y"), ("words for a", "no single word")]
    near = ("nearest document", "a, cosine 0.5: n")
    for found, rows in (
        (whole, [text, ("decision values", "b 2, a 1"), *words, near]),
        (
            replace(whole, words={}),
            [text, ("decision values", "b 2, a 1"), ("words", "none: it reads texts by itself"), near],
        ),
        (
            replace(whole, values="", words={}, problem="why"),
            [text, ("decision values", "not available: why"), near],
        ),
    ):
        taken = list[Any]()

        def explain(*given: Any, found: Any = found, taken: list[Any] = taken) -> Any:
            taken.append(given)
            return iter([(each, found), (each, found)])

        account = SimpleNamespace(explain=explain)
        first, second = _Account.documents(account, [each], "context", n_wrong=1234)  # type: ignore[arg-type]
        assert taken == [([each], "context", MAX_TEXT_CHARACTERS)]
        assert (list(first.rows), list(second.rows)) == ([*head, *rows], [*head, *rows])
        titles = ("d", "d") if right else ("d (wrong: 1 of 1,234)", "d (wrong: 2 of 1,234)")
        assert (first.title, second.title) == titles


@pytest.mark.parametrize(
    ("content", "lexing", "characters", "expected"),
    [
        ("one  two \n\n \nthree\n", {}, 100, "one  two\nthree"),
        ("one <b>two</b>  x \n\n&amp;  y", {"skip_html": True}, 100, "one two x\n& y"),
        ("Head: a\n\nbody", {"skip_header": True}, 100, "body"),
        ("Head: a\n\nbody", {}, 100, "Head: a\nbody"),
        ("abcde", {}, 5, "abcde"),
        ("abcdef", {}, 5, "abcde …"),
        ("ab\n\n\ncdef", {}, 5, "ab\ncd …"),
        ("", {}, 5, ""),
    ],
)
def test_a_text_is_what_the_lexer_reads_without_blank_lines_and_cut(
    content: str, lexing: dict[str, bool], characters: int, expected: str
) -> None:
    how: Any = SimpleNamespace(**{"skip_header": False, "skip_html": False, **lexing})
    assert shorten_text(content.encode(), how, characters) == expected


def test_decision_values_are_the_five_largest_in_their_order_with_the_words_of_the_model() -> None:
    values = np.array([[-3.0, 0.5, -0.25, 7.0, 0.5, -9.0, 2.0]])
    asked = list[Any]()

    class Model:
        n_terms: int | None = 9
        classes = tuple("abcdefg")

        def answers(self, documents: Any, *, n_words: int) -> Any:
            asked.append((documents, n_words))
            return [("d", SimpleNamespace(values=values, words=[{3: ["x", "y"], 6: []}]))]

    model, each = Model(), SimpleNamespace(fold="texas", document="d")
    account = SimpleNamespace(models={"texas": model}, cell=SimpleNamespace(id="ngd"))
    found = CellAccount._reasons(account, None, each, b"text", None)  # type: ignore[arg-type]
    expected = DocumentExplanation("", "ngd", "d 7, g 2, b 0.5, e 0.5, c -0.25", words={"d": ("x", "y"), "g": ()})
    assert found == expected
    model.n_terms = None
    assert CellAccount._reasons(account, None, each, b"text", None).words == {}  # type: ignore[arg-type]
    assert asked == [([("d", b"text")], N_TOP_TERMS), ([("d", b"text")], 0)]
    account.models["texas"] = "why not"
    lost = CellAccount._reasons(account, None, each, b"text", None)  # type: ignore[arg-type]
    assert lost == DocumentExplanation("", "ngd", problem="why not")


def test_a_model_is_trained_once_for_each_split_and_why_it_is_not_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[Any]()

    def fit(experiment: Any, cell: str, context: Any, *, split: str) -> Any:
        asked.append((experiment, cell, context, split))
        raise ConfigError(f"not on {split}")

    monkeypatch.setattr("benchmark.commands.explanation.account.fit_model", fit)
    account = SimpleNamespace(models={}, cell=SimpleNamespace(id="ngd"))
    for fold in ("texas", "cornell", "texas"):
        each = SimpleNamespace(fold=fold, document="d")
        found = CellAccount._reasons(account, "E", each, b"", "C")  # type: ignore[arg-type]
        assert found.problem == f"not on {fold}"
    assert asked == [("E", "ngd", "C", "texas"), ("E", "ngd", "C", "cornell")]


@pytest.mark.parametrize("terms", [None, SimpleNamespace(aggregate="max")])
def test_each_document_is_explained_as_its_split_s_candidate_reads_it(
    monkeypatch: pytest.MonkeyPatch, terms: Any
) -> None:
    """Of two splits with other candidates: texts, terms and neighbours are theirs, and each split is looked at once."""
    module = "benchmark.commands.explanation.account"
    asked, made, said = list[Any](), list[Any](), list[str]()
    whole, own = (SimpleNamespace(lexing=name) for name in ("of all", "its own"))
    candidates = [SimpleNamespace(text=None), SimpleNamespace(text=own)]
    variant = SimpleNamespace(protocol="P", terms=terms, collection=SimpleNamespace(text=whole))
    documents = SimpleNamespace(ids=["a", "b", "c", "d"], classes=["u", "v"])
    members = np.array([[1, 0], [0, 1], [1, 1], [0, 0]], dtype=bool)
    problems = tuple(
        SimpleNamespace(documents=documents, members=members, over_terms_of=lambda train, n=n: (n, train))
        for n in range(2)
    )
    splits = [SimpleNamespace(train="train 0"), SimpleNamespace(train="train 1")]

    def protocol_at_size(protocol: Any, size: Any) -> Any:
        assert (protocol, size) == ("P", 40)
        return SimpleNamespace(splits=lambda of: splits if of is documents else None)

    def nearest(work: Any, spec: Any, rows: Any) -> Any:
        asked.append((work, spec, rows))
        return f"by {len(asked)}", {row: [(3 - row, row / 2), (2, 0.5)] for row in rows}

    monkeypatch.setattr(f"{module}.protocol_at_size", protocol_at_size)
    monkeypatch.setattr(f"{module}.method_of", lambda *_: SimpleNamespace(candidates=candidates))
    monkeypatch.setattr(f"{module}.MatrixCache", lambda jobs: ("cache", jobs))
    monkeypatch.setattr(f"{module}.SplitData", lambda *given: made.append(given) or given)
    monkeypatch.setattr(f"{module}._nearest", nearest)
    monkeypatch.setattr(f"{module}.shorten_text", lambda *given: given)
    experiment = SimpleNamespace(variants={"soft": variant})

    def contents(given: Any, problem: Any, rows: Any) -> Any:
        assert (given, problem, rows.tolist()) == (experiment, problems[0], [0, 1, 2])
        return {row: f"text {row}".encode() for row in rows}

    account: Any = SimpleNamespace(
        cell=SimpleNamespace(variant="soft", size=40, terms=7),
        candidates=np.array([1, 0]),
        again=lambda _: (experiment, problems),
        contents=contents,
        _reasons=lambda _, each, content, context: DocumentExplanation("", each.document, content, words=context.words),
    )
    context: Any = SimpleNamespace(jobs=5, words={}, observer=SimpleNamespace(now=said.append))
    wanted: Any = [
        SimpleNamespace(row=row, split=split, fold=f"fold {split}", document=documents.ids[row])
        for row, split in ((0, 0), (1, 1), (2, 0), (0, 1))
    ]
    found = list(CellAccount.explain(account, wanted, context, 9))
    assert [each for each, _ in found] == wanted
    by = {0: "by 1", 1: "by 2"}
    labels = {0: "u", 1: "v", 2: "u, v", 3: "(none)"}
    for each, told in found:
        lexing = "its own" if each.split == 0 else "of all"
        content = f"text {each.row}".encode()
        near = [(3 - each.row, each.row / 2), (2, 0.5)]
        assert told == DocumentExplanation(
            (content, lexing, 9),  # type: ignore[arg-type]
            each.document,
            content,  # type: ignore[arg-type]
            similarity=by[each.split],
            nearest=[(documents.ids[row], labels[row], value) for row, value in near],
        )
    aggregate = "max" if terms else "sum"
    assert made == [
        ((1, "train 0"), splits[0], splits, 7, aggregate, ("cache", 5)),
        ((0, "train 1"), splits[1], splits, 7, aggregate, ("cache", 5)),
    ]
    assert asked == [(made[0], candidates[1], [0, 2]), (made[1], candidates[0], [1, 0])]
    assert said == ["reading the documents again"] + [
        f"training the classifier of fold {split} again" for split in (0, 1, 0, 1)
    ]
    assert list(CellAccount.explain(account, [], context, 9)) == []


@pytest.mark.parametrize(
    ("kernel", "dirichlet", "reads_texts", "by"),
    [
        ("ngd", None, False, "ngd"),
        ("ngd", 0.5, False, "cosine"),
        ("hyperbolic", None, False, "cosine"),
        (None, None, False, "cosine"),
        (None, None, True, "cosine of counts"),
    ],
)
def test_neighbours_are_the_three_most_similar_by_a_kernel_of_points_or_else_by_the_cosine(
    kernel: str | None, dirichlet: float | None, reads_texts: bool, by: str
) -> None:
    points = np.random.default_rng(3).dirichlet(np.ones(4), 9)
    train, rows = np.array([8, 1, 3, 5, 7]), [0, 2]
    of_kernel = KERNELS[kernel or "ngd"]
    made = SimpleNamespace(name=kernel, cls=of_kernel, build=of_kernel)
    spec: Any = SimpleNamespace(
        kernel=made if kernel else None,
        representation=SimpleNamespace(dirichlet=dirichlet),
        classifier=SimpleNamespace(tags=SimpleNamespace(reads_texts=reads_texts)),
    )
    work: Any = SimpleNamespace(points=lambda _: points, split=SimpleNamespace(train=train))
    name, found = _nearest(work, spec, rows)
    assert name == by
    if by == "ngd":
        values = -2 * np.arccos(np.clip(np.sqrt(points[rows]) @ np.sqrt(points[train]).T, -1, 1))
    else:
        values = cosine_similarity(points[rows], points[train])
    for row, own in zip(rows, values, strict=True):
        ranked = sorted(zip(-own, train.tolist(), strict=True))[:3]
        assert [place for place, _ in found[row]] == [place for _, place in ranked]
        assert [value for _, value in found[row]] == pytest.approx([-value for value, _ in ranked], abs=1e-6)
