"""Of two runs' settings only those are shown that say why their numbers differ."""

from __future__ import annotations

from benchmark.commands.compare import _settings_table


def test_settings_that_differ_are_shortened_and_no_numbers_of_the_runs() -> None:
    near = {"base": {"near_duplicates": [{"near": 7, "split": "fold-1"}]}}
    one = {"a": "x" * 60, "b": "y" * 61, "c": None, "d": 1, "cells": {"mnb": 1}, "variants": near}
    two = {"a": "z", "b": "z", "c": 2, "d": 1, "cells": {"eef": 1}}
    settings = [("a", "x" * 60, "z"), ("b", "y" * 59 + "…", "z"), ("c", "absent", "2")]
    table = _settings_table(one, two, ("then", "now"))
    assert (table.header, list(table.rows)) == (("setting", "then", "now"), settings)
