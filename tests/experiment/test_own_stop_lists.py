"""A stop list of one's own: a file of words beside the configuration, for all methods or for one."""

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.experiment.store import Store
from benchmark.system.errors import ConfigError

CONFIG = """
name: stopped
corpus: {{name: synthetic}}
text: {{stoplist: {stoplist}}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {{name: other, text: {{min_documents: 2, stoplist: {other}}}, classifier: mnb}}]
"""


@pytest.fixture
def checked(tmp_path):
    def check(stoplist="words.txt", other="none"):
        (tmp_path / "stopped.yaml").write_text(CONFIG.format(stoplist=stoplist, other=other))
        return load_checked(tmp_path / "stopped.yaml")

    return check


@pytest.fixture
def vocabulary(checked, tmp_path):
    def words(stoplist):
        collection = checked(stoplist).variants["base"].collection
        return read_counts(collection, RunContext(Store(tmp_path / "store")))[0].vocabulary

    return words


def test_the_words_of_a_file_are_left_out_whatever_their_case(vocabulary, tmp_path):
    every = vocabulary("none")
    (tmp_path / "words.txt").write_text(f"{every[3].upper()} {every[7]}\nnowhere\n")
    assert vocabulary("words.txt") == tuple(word for word in every if word not in (every[3], every[7]))
    (tmp_path / "words.txt").write_text(every[5])
    assert vocabulary("words.txt") == (*every[:5], *every[6:]), "another list under the same name is other counts"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "can't be read as a list of words"),
        (b"\xff\xfe", "can't be read as a list of words"),
    ],
)
def test_what_is_no_list_is_told_with_its_line(checked, tmp_path, content, words):
    if content is not None:
        (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(ConfigError, match=words) as caught:
        checked()
    assert "stopped.yaml:4" in str(caught.value)
    assert "\n" not in str(caught.value)
