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


def vocabulary(folder, store, stoplist):
    (folder / "stopped.yaml").write_text(CONFIG.format(stoplist=stoplist))
    collection = load_checked(folder / "stopped.yaml").variants["base"].collection
    return read_counts(collection, RunContext(store))[0].vocabulary


def test_the_words_of_a_file_are_left_out_whatever_their_case(store, tmp_path):
    every = vocabulary(tmp_path, store, "none")
    (tmp_path / "words.txt").write_text(f"{every[3].upper()} {every[7]}\nnowhere\n")
    kept = tuple(word for word in every if word not in (every[3], every[7]))
    assert vocabulary(tmp_path, store, "words.txt") == kept
    (tmp_path / "words.txt").write_text(every[5])
    other = vocabulary(tmp_path, store, "words.txt")
    assert other == (*every[:5], *every[6:]), "another list under the same name is other counts"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_what_is_no_list_is_told_with_its_line(store, tmp_path, content):
    if content is not None:
        (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(ConfigError, match=r"^\S*stopped\.yaml:4.* can't be read as a list of words.*$"):
        vocabulary(tmp_path, store, "words.txt")
