"""A stop list of one's own: a file of words beside the configuration, for all methods or for one."""

import pytest

from benchmark.experiment.configuration import load_checked
from benchmark.experiment.context import RunContext
from benchmark.experiment.counting import read_counts
from benchmark.system.errors import ConfigError

CONFIG = """
name: stopped
corpus: {{name: synthetic}}
text: {{stoplist: {stoplist}}}
protocol: {{name: leave-one-group-out, held_out: [cornell]}}
methods: [mnb, {{name: other, text: {{min_documents: 2, stoplist: none}}, classifier: mnb}}]
"""


@pytest.fixture
def vocabulary(tmp_path, store):
    def words(stoplist):
        (tmp_path / "stopped.yaml").write_text(CONFIG.format(stoplist=stoplist))
        collection = load_checked(tmp_path / "stopped.yaml").variants["base"].collection
        return read_counts(collection, RunContext(store))[0].vocabulary

    return words


def test_the_words_of_a_file_are_left_out_whatever_their_case(vocabulary, tmp_path):
    every = vocabulary("none")
    (tmp_path / "words.txt").write_text(f"{every[3].upper()} {every[7]}\nnowhere\n")
    assert vocabulary("words.txt") == tuple(word for word in every if word not in (every[3], every[7]))
    (tmp_path / "words.txt").write_text(every[5])
    assert vocabulary("words.txt") == (*every[:5], *every[6:]), "another list under the same name is other counts"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_what_is_no_list_is_told_with_its_line(vocabulary, tmp_path, content):
    if content is not None:
        (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(ConfigError, match=r"^\S*stopped\.yaml:4.* can't be read as a list of words.*$"):
        vocabulary("words.txt")
