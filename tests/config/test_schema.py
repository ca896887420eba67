"""Keys, types and ranges of a file: each mechanism once, and for each section that it has it."""

from __future__ import annotations

import pytest

from benchmark.system.errors import ConfigError


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        (
            "titel: x # HERE\n",
            "'titel'; did you mean 'title'? (nearest of 28 that are allowed: title, text, ",
        ),
        ("corpus:\n  name: synthetic\n  clases: [a] # HERE\n", "'classes'? (allowed: name, subset, classes, exclude)"),
        (
            "text:\n  digits: drop\n  skip_heder: true # HERE\n",
            "did you mean 'skip_header'? (allowed: lexer, skip_header, ",
        ),
        ("expect:\n  document: 3 # HERE\n", "did you mean 'documents'? (allowed: documents, vocabulary)"),
        ("tasks:\n  - {title: all,\n     largst: 2} # HERE\n", "'largest'? (allowed: title, largest, classes)"),
        ("terms:\n  number: 5\n  ranks: x # HERE\n", "did you mean 'rank'? (allowed: number, rank, aggregate)"),
        ("choose:\n  by: oracle\n  fold: 5 # HERE\n", "did you mean 'folds'? (allowed: by, folds, grouped, grid_keys)"),
        ("figures:\n  - name: a\n    panels: task # HERE\n", "did you mean 'panel'? (allowed: name, title, y, x, line"),
        ("1: 2 # HERE\n", "the key 1 must be text: put it in quotes"),
        ("variants:\n  2: # HERE\n    text: {}\n", "the key 2 must be text"),
    ],
)
def test_an_unknown_key_of_a_section_is_refused_with_the_nearest_and_all_allowed(refusal, fragment, said):
    assert said in refusal(fragment)


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("name: 7 # HERE\n", "name is 7: must be text: put it in quotes"),
        ("corpus: synthetic # HERE\n", "must be a mapping of keys to values, such as name, classes, exclude"),
        ("corpus: # HERE\n", "corpus is empty: must be a mapping"),
        ("corpus:\n  name: synthetic\n  classes:\n    - student\n    - 7 # HERE\n", "classes.1 is 7: must be text"),
        ("text:\n  skip_html: 1 # HERE\n", "text.skip_html is 1: must be true or false"),
        ("text:\n  stoplist: no # HERE\n", "is False: must be text; YAML reads yes, no, on and off as true and false"),
        ("text:\n  min_documents: '2' # HERE\n", "text.min_documents is '2': must be a whole number"),
        ("expect:\n  documents: true # HERE\n", "expect.documents is True: must be a whole number"),
        ("tasks: course # HERE\n", "tasks is 'course': must be a list"),
        ("tasks:\n  - [course, faculty]\n  - 5 # HERE\n", "tasks.1 is 5: must be a list"),
        ("tasks:\n  - title: a\n    largest: x # HERE\n", "tasks.0.largest is 'x': must be a whole number"),
        ("terms:\n  number: ten # HERE\n", "terms.number is 'ten': must be a whole number"),
        ("choose:\n  by: oracle\n  folds: 2.5 # HERE\n", "choose.folds is 2.5: must be a whole number"),
        ("defaults: [svm] # HERE\n", "defaults is ['svm']: must be a mapping"),
        ("metrics: accuracy # HERE\n", "metrics is 'accuracy': must be a list"),
        ("compare:\n  - [ngd, linear]\n  - ngd # HERE\n", "compare.1 is 'ngd': must be a list"),
        ("figures:\n  - {name: a, log_x: 1} # HERE\n", "figures.0.log_x is 1: must be true or false"),
        ("variants: [a] # HERE\n", "variants is ['a']: must be a mapping"),
        ("variants:\n  a: # HERE\n", "variants.a is empty: must be a mapping"),
        ("seed: 1e3 # HERE\n", "seed is '1e3': must be a whole number; YAML reads"),
        ("run_base: 0 # HERE\n", "run_base is 0: must be true or false"),
    ],
)
def test_a_wrong_type_of_a_section_is_told_in_words(refusal, fragment, said):
    message = refusal(fragment)
    assert said in message
    assert "instance of" not in message


@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("name: a/b # HERE\n", "name is 'a/b': must begin with a letter or digit, and continue with letters,"),
        ("seed: -1 # HERE\n", "seed is -1: input should be greater than or equal to 0"),
        ("text:\n  min_documents: 0 # HERE\n", "text.min_documents is 0"),
        ("text:\n  min_occurrences: -2 # HERE\n", "text.min_occurrences is -2"),
        ("tasks:\n  - {title: a, largest: 1} # HERE\n", "tasks.0.largest is 1"),
        ("terms: {number: []} # HERE\n", "terms.number is []: must not be empty"),
        ("choose: {by: oracle, folds: 1} # HERE\n", "choose.folds is 1"),
        ("choose: {by: []} # HERE\n", "choose.by is []: must not be empty"),
        ("metrics: [] # HERE\n", "metrics is []: must not be empty"),
        ("methods: [] # HERE\n", "methods is []: must not be empty"),
        ("per_class: some # HERE\n", "per_class is 'some': must be true or false"),
        ("gain: ratio # HERE\n", "gain is 'ratio': must be true or false"),
        ("holm_within: [colour] # HERE\n", "holm_within.0 is 'colour': input should be 'variant'"),
        ("figures: [{name: A}] # HERE\n", "name is 'A': must begin with"),
        ("figures: [{name: a, bars: all}] # HERE\n", "figures.0.bars is 'all': input should be 'interval'"),
    ],
)
def test_a_value_out_of_range_is_refused_at_its_key(refusal, fragment, said):
    assert said in refusal(fragment)


@pytest.mark.parametrize("key", ["name", "corpus", "protocol", "methods"])
def test_a_missing_key_is_named(written, read, key):
    path = written(without=(key,))
    with pytest.raises(ConfigError, match=rf"^\S+config\.yaml:1: the key '{key}' is missing$"):
        read(path)


def test_all_that_is_wrong_with_the_form_is_told_at_once_in_the_order_of_the_lines(refusal):
    message = refusal("titel: x # HERE\nseed: one # HERE\ntext:\n  digit: drop # HERE\n")
    assert [line.split()[0] for line in message.splitlines()] == ["unknown", "seed", "unknown"]
