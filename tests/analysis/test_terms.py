"""Terms of a page: each component of this package is described by the first paragraph of its docstring."""

from __future__ import annotations

import inspect

import pytest

from benchmark.analysis.prose.terms import terms_of
from benchmark.classifiers import CLASSIFIERS
from benchmark.kernels import KERNELS
from benchmark.representation import WEIGHTINGS
from tests.builders import small_experiment

METHODS = [
    {
        "weighting": ["tf", "tfidf", "bm25", "aitchison"],
        "normalization": "l1",
        "kernel": ["linear", "ngd", "diffusion"],
    },
    "mnb",
    "complement-nb",
]


IN_FULL = {"ngd": "negative geodesic distance; ", "linear": "inner product; "}


def test_a_term_is_described_in_full_and_by_the_first_paragraph_of_its_docstring() -> None:
    terms = dict(terms_of(small_experiment(methods=METHODS, compare=[])))
    known = {**WEIGHTINGS, **KERNELS, **CLASSIFIERS}
    own = terms.keys() & known.keys()
    assert {"tf", "bm25", "aitchison", "ngd", "mnb", "svm"} <= own
    for name in own:
        paragraph = (inspect.getdoc(known[name]) or "").partition("\n\n")[0]
        assert terms[name] == IN_FULL.get(name, "") + " ".join(paragraph.split()).replace("`", "")


@pytest.mark.parametrize("word", ["cell", "95% interval", "p (Holm)", "l1 normalization"])
def test_words_of_every_page_are_explained(word: str) -> None:
    assert dict(terms_of(small_experiment(methods=METHODS, compare=[])))[word]
