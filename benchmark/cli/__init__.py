"""The command line: one short function a command. Heavy imports stay inside them, so that ``--help`` is quick."""

from __future__ import annotations

import gc
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from benchmark.cli.shorthand import config_named, run_named
from benchmark.cli.world import ensure_memory, prepare, say, told
from benchmark.environment import share_heaps
from benchmark.errors import BenchError, ConfigError, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmark.config.model import Study
    from benchmark.experiment.session import Finished
    from benchmark.text.counts import Counts


class _Group(TyperGroup):
    """Answers for what goes wrong, while words are parsed and while a command works."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Parse and run."""
        with told():
            return super().main(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for; here, since click has words of its own for an interrupt."""
        with told():
            ensure_memory()
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Group,
    name="bench",
    help="""Benchmark text classifiers that know the geometry of the simplex, beside the numbers that papers published.

    Exit codes: 0 all is well; 1 a cell failed, a number moved, or the machine refused; 2 a command or configuration
    is wrong; 3 data are missing or damaged; 130 interrupted.""",
    epilog="Start with: bench run configs/quickstart.yaml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data = typer.Typer(no_args_is_help=True, help="List, fetch, verify, describe and export the corpora.")
cache = typer.Typer(no_args_is_help=True, help="What runs have kept, to be computed only once.")
prints = typer.Typer(no_args_is_help=True, help="What papers printed: the settings that their numbers are of.")
plugin = typer.Typer(no_args_is_help=True, help="Kernels, classifiers and other components of one's own.")
app.add_typer(plugin, name="plugin", epilog="Example: bench plugin test mykernels.py")
app.add_typer(prints, name="published", epilog="Example: bench published pin configs/webkb.yaml")
app.add_typer(data, name="data", epilog="Example: bench data list")
app.add_typer(cache, name="cache", epilog="Example: bench cache info")

KEPT = "what was computed is kept, and the same command goes on from there"

_CONFIGS = "YAML files, such as configs/webkb.yaml, or webkb for short."
_RUN = "The folder of a run, such as results/runs/webkb, or webkb for short."
Configs = Annotated[list[Path], typer.Argument(metavar="CONFIG", help=_CONFIGS)]
Config = Annotated[Path, typer.Argument(metavar="CONFIG", help=_CONFIGS.replace("files", "file"))]
Run = Annotated[Path, typer.Argument(metavar="RUN", help=_RUN)]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Folder for the results; of several configs, each has one below it.",
        show_default="results/runs/<name>",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Write to a folder that holds something else.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=0, help="Threads; 0 takes all processors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say each step as it is done.")]
Download = Annotated[bool, typer.Option(help="Whether a corpus that isn't here may be downloaded.")]


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        say(f"bench {version('simplexbench')}")
        raise typer.Exit


@app.callback()
def bench(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version, and no more.")
    ] = False,
) -> None:
    """What stands before a command."""


@app.command(epilog="Examples: bench run configs/webkb.yaml · bench run webkb --only 'tfidf-*'")
def run(
    configs: Configs,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="CELL", help="Cells to run, and no others; patterns such as 'tfidf-*'."),
    ] = None,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Run experiments: train, test, and write tables, figures, tests and verdicts."""
    from benchmark.experiment.kinds import part_of
    from benchmark.experiment.session import all_checked

    failed = False
    studies = [part_of(study, only or ()) for study in all_checked([config_named(each) for each in configs])]
    for done in _performed(studies, out, overwrite, jobs, verbose, download):
        _show_tables(done)
        failed |= bool(done.summary.failures)
    if failed:
        raise SystemExit(1)


@app.command(epilog="Examples: bench init tickets.csv --text body --label queue · bench init essays/")
def init(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A table, JSON lines, Parquet, or a folder of classes.")],
    text: Annotated[str | None, typer.Option(help="Column of the text.", show_default="proposed")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the class.", show_default="proposed")] = None,
    labels: Annotated[str | None, typer.Option(help="Column of the classes, of which there may be several.")] = None,
    separator: Annotated[str | None, typer.Option(help="Between several classes, where they are text.")] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Column of the documents' names.")] = None,
    split: Annotated[str | None, typer.Option(help="Column that says train or test.")] = None,
    group: Annotated[str | None, typer.Option(help="Column of what documents belong to.")] = None,
    date: Annotated[str | None, typer.Option(help="Column of the date.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Leave out: empty, unlabelled, repeated, rare.")] = None,
    encoding: Annotated[str, typer.Option(help="Of the file.")] = "utf-8",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Where to.", show_default="<name>.yaml")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Even where there is such a file.")] = False,
) -> None:
    """Write a first configuration for your own documents; asks where a terminal can answer."""
    from benchmark.cli.questions import confirmed
    from benchmark.experiment.session import checked
    from benchmark.library.starting import look, propose, start

    given = {"text": text, "label": label, "labels": labels, "id": id_, "split": split, "group": group, "date": date}
    seen = look(path, encoding=encoding)
    roles = propose(seen, {role: name for role, name in given.items() if name is not None})
    roles = confirmed(seen.columns, roles, {role for role, name in given.items() if name is not None})
    target = start(seen, roles, out, overwrite=overwrite, separator=separator, drop=drop or [])
    say(f"Written to {target}: " + (", ".join(f"{role} is {name!r}" for role, name in roles.items()) or "a folder"))
    study = checked(target)
    say(f"It is good: {len(study.ids)} cells. Next: bench run {target}")


@app.command(epilog="Example: bench validate configs/*.yaml")
def validate(configs: Configs) -> None:
    """Check configurations without doing any work."""
    from benchmark.experiment.session import checked

    problems = []
    for path in configs:
        try:
            found = config_named(path)
            say(f"{found}: good, {len(checked(found).ids)} cells")
        except BenchError as error:
            problems.append(error)
    for problem in problems:
        say(f"bench: {problem}", err=True)
    if problems:
        raise SystemExit(max(problem.exit_code for problem in problems))


@app.command(epilog="Example: bench plan configs/20ng.yaml")
def plan(config: Config, download: Download = True) -> None:
    """Show the cells of an experiment, and what of it the store already has."""
    from benchmark.cli.terminal import ProgressObserver, output, table
    from benchmark.experiment.kinds import plan_study
    from benchmark.experiment.session import checked
    from benchmark.experiment.store import Store

    study = checked(config_named(config))
    with ProgressObserver(study.name) as observer:
        rows = plan_study(study, Store(warn=observer.note), observer, download=download)
    output().print(table(("what", "entries", "in the store"), rows))


@app.command(epilog="Example: bench check configs/webkb.yaml configs/20ng.yaml")
def check(
    configs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="CONFIG", help="YAML files.", show_default="every config that is pinned"),
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Write the numbers as the ones to guard from now on.")] = False,
    out: Out = None,
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Run experiments and compare them with the pinned and the published numbers; exit 1 if one has moved."""
    from benchmark.cli.terminal import output, table
    from benchmark.experiment import pinned

    moved = False
    studies = pinned.guarded([config_named(each) for each in configs or []], pinning=pin)
    for done in _performed(studies, out, overwrite, jobs, verbose, download):
        if pin:
            pinned.pin(done.summary)
        found = pinned.deviations(done.summary)
        say(pinned.in_a_line(done.summary, found))
        if found:
            output().print(table(pinned.COLUMNS, map(pinned.shown, found)))
        moved |= bool(found) or bool(done.summary.failures)
    if moved:
        raise SystemExit(1)


@app.command(epilog="Examples: bench compare results/runs/webkb tf-l1-ngd tf-l2-linear · bench compare RUN_A RUN_B")
def compare(
    run: Run,
    a: Annotated[str, typer.Argument(metavar="A", help="A cell of the run; or the folder of another run.")],
    b: Annotated[str | None, typer.Argument(metavar="B", help="Another cell of the run.")] = None,
) -> None:
    """Compare two cells of a run, or two runs: what was run first, then numbers and tests."""
    from benchmark.cli.terminal import show
    from benchmark.experiment.overview import compare_cells, compare_runs, other_run

    one = run_named(run)
    show(compare_runs(one, run_named(other_run(one, a))) if b is None else compare_cells(one, a, b))


@app.command(epilog="Example: bench report results/runs/webkb")
def report(run: Run) -> None:
    """Make tables and figures again from saved predictions, without training."""
    from benchmark.experiment.session import again

    _show_tables(again(run_named(run)))


@app.command(epilog="Example: bench explain results/runs/webkb tf-l1-ngd")
def explain(
    run: Run,
    cell: Annotated[str, typer.Argument(metavar="CELL", help="A cell of the run.")],
    document: Annotated[str | None, typer.Option(help="Id of one tested document.")] = None,
    shown: Annotated[int, typer.Option("--shown", min=0, help="How many wrong documents to show.")] = 5,
) -> None:
    """Tell how a number came about: from the archive to the score, and the documents that it gets wrong."""
    from benchmark.cli.terminal import ProgressObserver, show
    from benchmark.experiment.store import Store
    from benchmark.library.explaining import explained

    with ProgressObserver(cell) as observer:
        parts = explained(run_named(run), cell, Store(warn=observer.note), observer, document=document, shown=shown)
    show(parts)


@app.command(epilog="Example: bench fit configs/20ng.yaml --cell tf-l1-ngd --out model")
def fit(
    config: Config,
    cell: Annotated[str, typer.Option("--cell", "-c", help="The cell whose method is trained, such as tf-l1-ngd.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the model.")],
    split: Annotated[
        str | None,
        typer.Option(help="Train on a split's training documents alone.", show_default="on all documents"),
    ] = None,
    probability: Annotated[bool, typer.Option("--probability", help="Fit a probability for each class, too.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write over what --out holds.")] = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Train the method of a cell, and keep it: `bench predict` and `benchmark.load_model` ask it."""
    from benchmark.cli.terminal import ProgressObserver, size
    from benchmark.compiled import ensure_usable
    from benchmark.experiment.session import checked, default_jobs, ensure_writable
    from benchmark.experiment.store import Store
    from benchmark.model.fitting import fit_model
    from benchmark.model.folder import ensure_free, write_model

    study = checked(config_named(config))
    ensure_free(out, overwrite=overwrite)
    ensure_writable(out)
    ensure_usable(partial(say, err=True))
    with ProgressObserver(study.name, verbose=verbose) as observer:
        model = fit_model(
            study,
            cell,
            Store(warn=observer.note),
            observer,
            split=split,
            probability=probability,
            jobs=jobs or default_jobs(),
            download=download,
        )
    n_bytes = write_model(model, out)
    learned = f"{model.about['documents']:,} documents, {len(model.vocabulary):,} words, {len(model.classes)} classes"
    say(f"Written to {out}: {learned}, {size(n_bytes)}")


@app.command(epilog="Examples: bench predict model letter.txt · bench predict model new.csv --text body > answers.csv")
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a model that `bench fit` wrote.")],
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Texts; .csv, .tsv, .jsonl and .parquet hold one a record, - has one a line.",
            show_default="-",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", "-f", help="csv or jsonl.")] = "csv",
    text: Annotated[
        list[str] | None, typer.Option(help="Column of the text.", show_default="as the corpus had it")
    ] = None,
    id_: Annotated[str | None, typer.Option("--id", help="Column of names.", show_default="file and line")] = None,
    encoding: Annotated[str, typer.Option(help="Of tables and JSON lines.")] = "utf-8",
    words: Annotated[int, typer.Option(min=0, help="Tell so many words that speak most for each label.")] = 0,
    jobs: Jobs = 0,
) -> None:
    """Ask a model: label, decision values and probabilities of each text, on standard output."""
    from benchmark.compiled import ensure_usable
    from benchmark.corpora.records import check_encoding
    from benchmark.experiment.session import default_jobs
    from benchmark.model import predicting
    from benchmark.model.folder import read_model

    if format_ not in ("csv", "jsonl"):
        raise ConfigError(f"--format: {unknown('format', format_, ('csv', 'jsonl'))}")
    check_encoding(encoding)
    kept = read_model(model)
    ensure_usable(partial(say, err=True))
    given = predicting.documents(files or [predicting.STANDARD_INPUT], text or kept.about["text"], id_, encoding)
    tally = predicting.Tally()
    answered = tally.counted(kept.answers(given, n_words=words, jobs=jobs or default_jobs()))
    for part in predicting.lines(kept, answered, as_json=format_ == "jsonl", with_words=words > 0):
        sys.stdout.write(part)
    sys.stdout.flush()
    if tally.unknown:
        say(f"{tally.unknown:,} of {tally.documents:,} documents have no word that the model knows", err=True)


@app.command("list", epilog="Example: bench list kernels")
def list_(
    what: Annotated[
        str,
        typer.Argument(metavar="KIND", help="Such as kernels, classifiers, metrics, papers.", show_default="all"),
    ] = "",
    plugins: Annotated[
        list[Path] | None, typer.Option("--plugins", metavar="FILE", help="List a plug-in's file, too.")
    ] = None,
) -> None:
    """List what a configuration can name, with its parameters."""
    from benchmark.cli.terminal import show
    from benchmark.reference.registries import registered

    show(registered(what, plugins or ()))


@app.command(epilog="Examples: bench schema · bench schema --markdown")
def schema(
    markdown: Annotated[bool, typer.Option("--markdown", help="As a page of every key, to be read.")] = False,
) -> None:
    """Print the JSON Schema of configurations, from which editors complete and check them."""
    if markdown:
        from benchmark.reference.reference_page import reference_page

        say(reference_page().rstrip())
        return
    import json

    from benchmark.reference.json_schema import json_schema

    say(json.dumps(json_schema(), indent=1, ensure_ascii=False))


@app.command(epilog="Example: bench reproduce")
def reproduce(
    configs: Annotated[Path, typer.Option("--configs", help="Folder of configurations.")] = Path("configs"),
    page: Annotated[Path, typer.Option("--page", help="The page to write.")] = Path("results/REPRODUCTION.md"),
    overwrite: Overwrite = False,
    jobs: Jobs = 0,
    verbose: Verbose = False,
    download: Download = True,
) -> None:
    """Run every configuration that belongs to a paper, and write the page of all published numbers beside ours."""
    from benchmark.experiment.reproduction import paper_configs, write_page
    from benchmark.experiment.session import ensure_writable

    ensure_writable(page.parent)
    done = list(_performed(paper_configs(configs), None, overwrite, jobs, verbose, download))
    say(write_page(done, page))
    if any(each.summary.failures for each in done):
        raise SystemExit(1)


@data.command("list", epilog="Example: bench data list")
def data_list() -> None:
    """List the corpora and where each was found."""
    from benchmark.cli.terminal import output, table
    from benchmark.reference.registries import dataset_rows

    output().print(table(("corpus", "documents", "classes", "groups", "found"), dataset_rows()))


Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Such as webkb or 20ng; see `bench data list`.")]


@data.command("fetch", epilog="Example: bench data fetch webkb")
def data_fetch(
    dataset: Dataset,
    dest: Annotated[
        Path | None, typer.Option("--dest", help="Folder to download to.", show_default="datasets/")
    ] = None,
) -> None:
    """Download a corpus unless it is here, and verify it."""
    from benchmark.corpora import registry

    said = partial(say, err=True)
    source = registry.locate(dataset, download=True, dest=dest, notify=said, progress=True)
    corpus = registry.load(dataset, source)
    say(f"{dataset}: {source}, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("verify", epilog="Example: bench data verify 20ng")
def data_verify(
    datasets: Annotated[
        list[str] | None, typer.Argument(metavar="DATASET", help="Names of corpora.", show_default="all that are here")
    ] = None,
) -> None:
    """Check that corpora are the ones their dataset cards describe."""
    from benchmark.corpora import registry

    for name in datasets or [name for name in registry.registered() if registry.find(name)]:
        corpus = registry.load(name, registry.locate(name))
        say(f"{name}: as its card says, {len(corpus.documents):,} documents, content digest {corpus.digest}")


@data.command("stats", epilog="Example: bench data stats configs/webkb.yaml")
def data_stats(config: Config, download: Download = True) -> None:
    """Describe what a configuration's kernels see: documents by class and group, words, vocabulary."""
    from benchmark.cli.terminal import show
    from benchmark.experiment.overview import statistics

    show(statistics(_counts(config, download)))


@data.command("card", epilog="Example: bench data card tickets.yaml")
def data_card(config: Config) -> None:
    """Write the card of one's own corpus: counts and digest. Runs refuse a corpus that is otherwise."""
    from benchmark.experiment.session import write_card

    say(f"Written to {write_card(config_named(config))}")


@data.command("export", epilog="Example: bench data export configs/webkb.yaml --out exported")
def data_export(
    config: Config,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    download: Download = True,
) -> None:
    """Write what the kernels see: counts.svmlight, vocabulary.txt, documents.csv."""
    from benchmark.experiment.export import export_counts

    for path in export_counts(_counts(config, download), out):
        say(str(path))


@prints.command("pin", epilog="Example: bench published pin configs/webkb.yaml")
def published_pin(configs: Configs) -> None:
    """Keep the settings of these configurations as those that their paper's printed numbers are of.

    Under any other setting a print is shown beside ours, and what is otherwise; a verdict there is none.
    """
    from benchmark.experiment.session import all_checked
    from benchmark.findings.settings import pin_settings

    for study in all_checked([config_named(each) for each in configs]):
        path, n = pin_settings(study)
        say(f"{path}: the settings of {n} cells of {study.name}")


@cache.command("info", epilog="Example: bench cache info")
def cache_info() -> None:
    """Say where results are kept, how many, and how large they are."""
    from benchmark.cli.terminal import size
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.entries()
    total = sum(n_bytes for _, n_bytes, _ in entries)
    say(f"{store.folder}\n{len(entries):,} entries, {size(total)} of at most {size(store.limit)}")


@cache.command("clear", epilog="Example: bench cache clear --yes")
def cache_clear(yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False) -> None:
    """Remove everything that was kept; runs compute it again."""
    from benchmark.cli.terminal import size
    from benchmark.experiment.store import Store

    store = Store()
    entries = store.entries()
    held = f"{len(entries):,} entries, {size(sum(n_bytes for _, n_bytes, _ in entries))}"
    if not yes:
        if not _asks():
            raise ConfigError(f"{store.folder}: {held} would be removed; say --yes, since there is no one to ask")
        typer.confirm(f"Remove {held} from {store.folder}?", abort=True, err=True)
    n, n_bytes = store.clear()
    say(f"removed {n:,} entries, {size(n_bytes)}")


@plugin.command("test", epilog="Example: bench plugin test mykernels.py")
def plugin_test(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Python files, such as mykernels.py.")],
) -> None:
    """Try the components of a plug-in on small data: a line a check, exit 1 if one fails."""
    from benchmark.plugins.contract import tried_file

    failed = 0
    for path in files:
        for each in tried_file(path):
            say(f"{each.component}: {each.check}: {'FAILED: ' + each.problem if each.problem else 'passed'}")
            failed += bool(each.problem)
    if failed:
        raise SystemExit(1)


def _asks() -> bool:
    """Whether there is someone to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def _performed(
    studies: list[Study], out: Path | None, overwrite: bool, jobs: int, verbose: bool, download: bool
) -> Iterator[Finished]:
    """Run one after the other; of several, each has a folder below --out."""
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.compiled import ensure_usable
    from benchmark.experiment.session import default_jobs, folders_of, perform
    from benchmark.experiment.store import Store

    folders = folders_of(studies, out, overwrite=overwrite)
    gc.freeze()
    gc.enable()
    ensure_usable(partial(say, err=True))
    for study, folder in zip(studies, folders, strict=True):
        with ProgressObserver(study.name, verbose=verbose) as observer:
            store = Store(warn=observer.note)
            try:
                done = perform(
                    study, store, folder=folder, jobs=jobs or default_jobs(), observer=observer, download=download
                )
            except KeyboardInterrupt as stopped:
                if store.writable:
                    stopped.args = (KEPT,)
                raise
        yield done


def _show_tables(done: Finished) -> None:
    from benchmark.cli.terminal import output
    from benchmark.report.tables import TerminalTables

    output().print(TerminalTables(done.summary))
    stored, cells = done.results.from_store
    say(f"\n{stored:,} of {cells:,} cells from the store" if stored else "")
    say(f"Written to {done.folder}")


def _counts(config: Path, download: bool) -> Counts:
    from benchmark.cli.terminal import ProgressObserver
    from benchmark.config.model import Experiment
    from benchmark.experiment.reading import read_counts
    from benchmark.experiment.session import checked
    from benchmark.experiment.store import Store

    study = checked(config_named(config))
    if not isinstance(study, Experiment):
        raise ConfigError(f"{config}: reads no corpus; its data are generated")
    with ProgressObserver(study.name) as observer:
        first = next(iter(study.variants.values()))
        return read_counts(first.collection, Store(warn=observer.note), observer, download=download)[0]


def main() -> None:
    """Entry point of ``bench``."""
    # What imports make stays: collecting through it again and again takes a fifth of a short run.
    gc.disable()
    share_heaps()
    prepare()
    app()
