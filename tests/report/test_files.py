import re
from functools import cache

import pytest

from benchmark.report.drawing import render
from benchmark.report.files import write_report_files
from tests.processes import files_of

NAMES = {
    "table.md", "table.csv", "table.tex", "scores.csv", "significance.csv", "figures/figure.png", "figures/figure.svg",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _blank():
    """Figures with nothing in them, for tests of files: what is drawn, and alike each time, `drawing` tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(render, "render_pictures", lambda specs: {name: {"png": b"png", "svg": b"svg"} for name in specs})
        yield


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """All files of a summary in a new folder, written once."""

    @cache
    def write(make):
        folder = tmp_path_factory.mktemp("written") / "new" / "run"
        return folder, write_report_files(make(), folder)

    return write


def test_writes_every_file_and_nothing_else(make, written):
    folder, paths = written(make)
    names = NAMES | ({"verdicts.csv"} if len(make().verdicts) else set())
    assert {path.relative_to(folder).as_posix() for path in paths} == files_of(folder).keys() == names


def test_two_runs_have_equal_bytes_wherever_they_are_written(make, written, tmp_path):
    folder, first = written(make)
    second = write_report_files(make(), tmp_path / "b")
    for one, other in zip(first, second, strict=True):
        content = one.read_bytes()
        assert content == other.read_bytes()
        assert not any(str(place).encode() in content for place in (folder, tmp_path))
        assert b"\r\n" not in content or one.suffix == ".png"


def test_a_figure_that_cannot_be_drawn_is_told_and_leaves_no_old_one(make, tmp_path):
    write_report_files(make(), tmp_path)
    said = []
    paths = write_report_files(make(), tmp_path, lambda _: {}, said.append)
    assert {path.relative_to(tmp_path).as_posix() for path in paths} == files_of(tmp_path).keys()
    assert not list((tmp_path / "figures").iterdir())
    (line,) = said
    assert re.search(r"missing.*vl-convert.*: figure$", line)
    said.clear()
    with pytest.MonkeyPatch.context() as patch:  # as where the extra isn't installed: nobody asked for the plain figure
        patch.setattr(render, "engine_version", lambda: "")
        write_report_files(make(), tmp_path, lambda _: {}, said.append)
    assert not said
