"""What workers, and processes of users' code, are sent of an experiment: plain data, and classes by file and name."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchmark.experiment.manifest import library_versions
from benchmark.experiment.store import store_key
from benchmark.plugins.discovery import BUILTIN_REGISTRIES
from benchmark.plugins.loader import plugin_files
from benchmark.plugins.sending import pickle_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmark.config.model import Experiment
    from benchmark.experiment.context import LoadedVariant
    from benchmark.experiment.store import Store


@dataclass(frozen=True)
class Payload:
    """Experiment without its corpus, and its counts and texts.

    Parameters
    ----------
    key : str
        Digest of the other fields; payloads with the same key are equal.
    content : bytes
        Pickled experiment and counts. Unpickled only if the versions equal the sender's.
    plugins : mapping
        Files of the plug-in components for another machine, see `plugins.loader.plugin_files`.
    versions : dict of str to str
        Versions of Python and libraries on the sender.
    store : Store
    jobs : int
        Number of threads; 0 uses all processors.
    """

    key: str
    content: bytes = field(repr=False, compare=False)
    plugins: Mapping[str, Mapping[str, bytes]] = field(repr=False, compare=False)
    versions: dict[str, str] = field(repr=False, compare=False)
    store: Store = field(compare=False)
    jobs: int = field(compare=False)


def make_payload(
    experiment: Experiment, read: Mapping[str, LoadedVariant], store: Store, jobs: int, *, with_files: bool = True
) -> Payload:
    """Return the payload from which any setting of an experiment can be computed.

    `with_files` is for other machines; a process of this one imports the users' files where they are.
    """
    described = {name: replace(each, facts={}) for name, each in read.items()}
    variants = {name: each.without_corpus for name, each in experiment.variants.items()}
    slim = replace(experiment, variants=variants, diagnostics=(), known=BUILTIN_REGISTRIES, raw={})
    content, plugins = pickle_by_name((slim, described)), _plugin_files(experiment) if with_files else {}
    digest = hashlib.sha256(content).hexdigest()
    key = store_key(content=digest, plugins=repr(plugins), store=store.address, jobs=jobs, of=library_versions())
    return Payload(key, content, plugins, library_versions(), store, jobs)


def _plugin_files(experiment: Experiment) -> dict[str, dict[str, bytes]]:
    registries = *dict(experiment.registries.each()).values(), experiment.registries.pipelines
    plugins = {each.name: each for registry in registries for each in registry.origins.values() if each.file}
    return {name: plugin_files(plugins[name]) for name in sorted(plugins)}
