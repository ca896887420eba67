"""The machine learning reproducibility checklist, as far as a run can answer it.

The items are those of version 2.0 on models, data sets, code and results (Pineau et al. 2021, Improving reproducibility
in machine learning research, JMLR 22(164)); those on theory are for authors. What a run doesn't know is "not known".
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from benchmark.corpora.card import read_card
from benchmark.report.escapes import markdown_text
from benchmark.report.grids import STORED_NOTE, TextTable, cell_grid, cost_grid
from benchmark.report.tables import markdown_grid
from benchmark.system.errors import DataError
from benchmark.text.lexer import Lexing
from benchmark.text.pruning import Pruning

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from benchmark.analysis.summary import Summary
    from benchmark.corpora.card import DatasetCard

NOT_KNOWN = "not known"
#: Methods of these keys are trained, or were made, where a run can't look.
UNSEEN_METHODS = ("pipeline", "vectors", "predictions")


def checklist_markdown(summary: Summary, manifest: Mapping[str, Any]) -> str:
    """Return the checklist of a run as Markdown.

    Parameters
    ----------
    summary : Summary
    manifest : mapping
        Content of the run's manifest.json.
    """
    card = _card(manifest)
    parts = {
        "Models and algorithms": list(_models()),
        "Data sets": list(_data(manifest, card)),
        "Code": list(_code(manifest)),
        "Results": list(_results(summary, manifest)),
    }
    known = sum(answer != NOT_KNOWN for rows in parts.values() for _, answer in rows)
    sentence = (
        f"Made from the run's manifest and predictions, which answer {known} of {sum(map(len, parts.values()))} items "
        "of the machine learning reproducibility checklist 2.0 (Pineau et al. 2021). The authors answer the others."
    )
    lines = [f"# Reproducibility checklist: {markdown_text(summary.title)}", "", sentence]
    for title, rows in parts.items():
        table = TextTable(title, ("item", "answer"), tuple(rows), frozenset(("item", "answer")))
        lines += ["", f"## {title}", "", markdown_grid(table).rstrip()]
    for title, grid in (("Scores, with 95% intervals", cell_grid(summary)), ("Cost", cost_grid(summary.costs))):
        lines += ["", f"## {title}", "", markdown_grid(grid).rstrip()] if grid.rows else []
    lines += ["", markdown_text(STORED_NOTE)] if summary.costs["stored"].any() else []
    lines += ["", "## Notes", "", *(f"- {markdown_text(note)}" for note in summary.notes)]
    return "\n".join(lines) + "\n"


def _models() -> Iterator[tuple[str, str]]:
    """Yield the items that no run can answer."""
    yield "Mathematical setting, algorithm and model", NOT_KNOWN
    yield "Assumptions", NOT_KNOWN
    yield "Complexity: time, space, sample size", NOT_KNOWN


def _data(manifest: Mapping[str, Any], card: DatasetCard | None) -> Iterator[tuple[str, str]]:
    variants, config = manifest["variants"], manifest["config"]
    yield "Statistics, such as the number of examples", _joined(map(_statistics, variants.values()))
    yield "Splits for training, validation and testing", f"{_splits(manifest)}; {_validation(manifest)}"
    corpus = config.get("corpus", {})
    excluded = [f"{_counted(len(corpus['exclude']), 'document')} by id"] if corpus.get("exclude") else []
    excluded += [f"documents that are {', '.join(corpus['drop'])}"] if corpus.get("drop") else []
    empty = max((each.get("documents_without_words", 0) for each in variants.values()), default=0)
    yield "Excluded data", f"{_joined(excluded) or 'none'}; {empty:,} documents without words stay"
    collection = next(iter(manifest["experiment"]["variants"].values()))["collection"]
    stated = {**collection.get("lexing", {}), **collection.get("pruning", {})}
    rules = {each.name: each.default for of in (Lexing, Pruning) for each in fields(of)} | stated
    yield "Preprocessing", _parameters({key: value for key, value in rules.items() if value not in (None, (), [])})
    yield "Where the data can be downloaded", _download(card, variants)
    yield "How new data were collected, with instructions to annotators", (card and card.collection) or NOT_KNOWN


def _statistics(facts: Mapping[str, Any]) -> str:
    counted = {"documents": facts.get("documents"), "different words": facts.get("vocabulary")}
    counted |= {"words in all": facts.get("words")}
    numbers = [f"{n:,} {what}" for what, n in counted.items() if isinstance(n, int)]
    numbers += [f"{len(facts['classes'])} classes"] if facts.get("classes") else []
    return ", ".join(numbers) or NOT_KNOWN


def _splits(manifest: Mapping[str, Any]) -> str:
    """Return the protocol, the number of splits, and the smallest and largest number of documents in them."""
    sizes = [size for splits in manifest["splits"].values() for size in splits.values()]
    protocols = _joined(_component(each) for each in manifest["protocol"].values())
    if not sizes:
        return protocols
    train, test = ([size[part] for size in sizes] for part in ("train", "test"))
    number = _counted(len(sizes), "split")
    return f"{protocols}; {number}: {_range(train)} training and {_range(test)} test documents"


def _validation(manifest: Mapping[str, Any]) -> str:
    ways = [way for way in manifest["experiment"]["choices"] if way]
    if not ways:
        return "no validation part: no parameter was chosen"
    inner = manifest["experiment"].get("inner")
    of = f" ({_component({'name': inner['name'], **inner['given']})})" if inner else ""
    within = "on the test documents" if ways == ["oracle"] else "within the training documents of each split"
    return f"validation by {' and '.join(ways)}{of} {within}"


def _download(card: DatasetCard | None, variants: Mapping[str, Any]) -> str:
    digests = _joined(f"content digest sha256 {each['content_digest']}" for each in variants.values())
    if card is None:
        return f"{NOT_KNOWN}; {digests}"
    return f"{card.addresses[0] if card.addresses else 'generated by this package'}; {digests}"


def _code(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "Dependencies", ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    git = manifest.get("git", {})
    state = ", with uncommitted changes" if git.get("changed") else ""
    commit = f"commit {git['commit']}{state}" if git.get("commit") else f"commit {NOT_KNOWN}"
    code = f"simplexbench {manifest['versions'].get('simplexbench', NOT_KNOWN)}, {commit}"
    plugins = manifest.get("plugins", ())
    yield "Training code", code + (f"; and {_counted(len(plugins), 'plug-in')}" if plugins else "")
    yield "Evaluation code", code
    made = [word for word in UNSEEN_METHODS if f'"{word}"' in json.dumps(manifest["config"].get("methods", []))]
    yield "Pretrained models", f"{NOT_KNOWN}: methods have {', '.join(made)}" if made else "none: all are trained here"
    yield "Command", " ".join(manifest["command"])


def _results(summary: Summary, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    methods = [(name, specs) for variant in manifest["methods"].values() for name, specs in variant.items()]
    tuned = {name: specs for name, specs in methods if len(specs) > 1}
    yield "Ranges of hyperparameters", _joined(f"{name}: {_grid(specs)}" for name, specs in tuned.items()) or "one each"
    ways = [way for way in manifest["experiment"]["choices"] if way]
    chosen = "; manifest.json has the choice of each split, under cells" if ways else ""
    yield "How the best were selected", (" and ".join(ways) + chosen) if ways else "not selected: one setting a method"
    fixed = {name: specs[0] for name, specs in methods if len(specs) == 1}
    yield (
        "Hyperparameters of the results",
        _joined(f"{name}: {_settings(spec)}" for name, spec in fixed.items()) or ("those that were selected"),
    )
    n_splits = sum(map(len, manifest["splits"].values()))
    failed = f"; {_counted(len(summary.failures), 'cell')} failed" if summary.failures else ""
    yield (
        "Number of training and evaluation runs",
        (
            f"{len(summary.cells):,} cells; each is trained and tested once on each of its splits ({n_splits:,} splits)"
            f"{'; and for each candidate on the inner folds' if ways else ''}{failed}"
        ),
    )
    main, metrics = summary.main_metric, dict.fromkeys(summary.scores["metric"])
    yield "Measures", f"{', '.join(map(str, metrics))}; the main one is {main}; the notes below define them"
    yield (
        "Central tendency and variation",
        "the mean over the splits with its 95% interval, below; the notes say over what",
    )
    seconds = summary.costs[["training_seconds", "testing_seconds"]].to_numpy().sum() if len(summary.costs) else None
    whole = (
        f"{manifest['seconds']:,} s for the run, results of the store not computed again" if seconds is not None else ""
    )
    yield (
        "Average runtime",
        f"{whole}; {seconds:,.1f} s of training and testing when first computed" if whole else NOT_KNOWN,
    )
    yield "Energy", NOT_KNOWN
    machine = manifest.get("machine", {})
    peak = summary.costs["peak_bytes"].max() if len(summary.costs) else 0
    memory = f"; {peak / 1e9:.1f} GB of memory at most" if peak > 0 else ""
    yield (
        "Computing infrastructure",
        (
            f"{machine.get('system', NOT_KNOWN)}; {machine.get('processors', NOT_KNOWN)} processors, "
            f"{machine.get('threads', NOT_KNOWN)} threads; model of the processor {NOT_KNOWN}{memory}"
        ),
    )
    yield "Seeds", _parameters(manifest.get("seeds", {})) or NOT_KNOWN


def _card(manifest: Mapping[str, Any]) -> DatasetCard | None:
    """Return the card of the run's corpus; None for a user's own files."""
    collection = next(iter(manifest["experiment"]["variants"].values()))["collection"]
    try:
        return read_card(collection["corpus"])
    except DataError:
        return None


def _grid(specs: Iterable[Mapping[str, Any]]) -> str:
    """Return the values of each parameter that differs among candidates."""
    values: dict[str, list[str]] = {}
    for spec in specs:
        for key, value in _flat(spec).items():
            values.setdefault(key, []).append(str(value))
    shown = {key: list(dict.fromkeys(each)) for key, each in values.items()}
    return ", ".join(f"{key} in {{{', '.join(each)}}}" for key, each in shown.items() if len(each) > 1)


def _settings(spec: Mapping[str, Any]) -> str:
    return _parameters({key: value for key, value in _flat(spec).items() if value not in (None, {}, "")})


def _flat(spec: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in spec.items():
        name = f"{prefix}{'' if key == 'name' else key}".rstrip(".")
        flat |= _flat(value, f"{name}.") if isinstance(value, dict) and value else {name: value}
    return flat


def _component(resolved: Mapping[str, Any]) -> str:
    given = _parameters({key: value for key, value in resolved.items() if key != "name" and value is not None})
    return f"{resolved['name']}{f' ({given})' if given else ''}"


def _parameters(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number > 1 else ''}"


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))
