"""The store gives back what was put in, or nothing: whatever happens to its files, its processes and its disk."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.experiment.store import Store, StoreEntry, array_digest, store_key

KEY, OTHER = store_key(what="this"), store_key(what="that")
PLAIN = (
    hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.unsigned_integer_dtypes() | hnp.floating_dtypes()
    | hnp.complex_number_dtypes() | hnp.byte_string_dtypes(min_len=1) | hnp.unicode_string_dtypes(min_len=1)
)  # fmt: skip
ARRAYS = hnp.arrays(PLAIN, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
FACTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def example() -> StoreEntry:
    arrays = {"matrix": np.arange(12.0).reshape(3, 4), "none": np.empty((0, 3)), "flags": np.array([True, False])}
    return StoreEntry(arrays, {"digest": "ab", "n": 3})


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays=st.dictionaries(st.text(), ARRAYS, max_size=3), facts=st.dictionaries(st.text(), FACTS, max_size=3))
def test_gives_back_what_was_put_in(store, notebook, arrays, facts):
    assert store.put(KEY, StoreEntry(arrays, facts))
    found = store.get(KEY)
    assert found is not None
    assert found.facts == facts
    assert found.arrays.keys() == arrays.keys()
    assert all(same(found.arrays[name], arrays[name]) for name in arrays)
    assert not notebook.notes


def test_arrays_are_stored_whatever_their_layout_in_memory(store):
    array = np.arange(60.0).reshape(5, 12)
    layouts = {"C": array, "F": np.asfortranarray(array), "strided": array[::2, ::3], "reversed": array[::-1]}
    layouts["big-endian"] = array.astype(">f8")
    assert store.put(KEY, StoreEntry(layouts))
    found = store.get(KEY)
    assert all(same(found.arrays[name], each) for name, each in layouts.items())


class TestDamage:
    @staticmethod
    def assert_refused(store, notebook, key=KEY):
        notebook.notes.clear()
        assert store.get(key) is None
        assert not store.has(key)
        assert len(notebook.notes) == 1
        assert key[:12] in notebook.notes[0]
        assert "computed again" in notebook.notes[0]

    def test_a_flipped_byte_a_cut_or_more_bytes_anywhere(self, store, notebook):
        store.put(KEY, example())
        whole = store.path(KEY).read_bytes()
        damaged = [whole[:length] for length in range(len(whole))]
        damaged += [whole + b"\0", whole + b"\0" * 100_000]
        for position in range(len(whole)):
            for bits in (0x01, 0x80, 0xFF):
                content = bytearray(whole)
                content[position] ^= bits
                damaged.append(bytes(content))
        for content in damaged:
            store.path(KEY).write_bytes(content)
            self.assert_refused(store, notebook)

    def test_an_entry_under_another_key(self, store, notebook):
        store.put(KEY, example())
        store.path(OTHER).parent.mkdir(exist_ok=True)
        shutil.copy(store.path(KEY), store.path(OTHER))
        self.assert_refused(store, notebook, OTHER)
        assert store.get(KEY) is not None

    def test_objects_in_place_of_numbers(self, store, notebook):
        """A header that says so, with a digest that fits, as no accident would write it."""
        store.put(KEY, StoreEntry({"numbers": np.zeros(2)}))
        content = store.path(KEY).read_bytes()
        end = 80 + int(content[64:80], 16)
        header = content[80:end].replace(b'"<f8"', b'"|O"')
        digest = hashlib.sha256(header).hexdigest().encode()
        store.path(KEY).write_bytes(b"%s%016x%s" % (digest, len(header), header) + content[end:])
        self.assert_refused(store, notebook)


class TestLimit:
    @staticmethod
    def filled(folder, limit=10**9):
        """Entries "a", "b", "c" of about 1,300 bytes, used in this order."""
        store = Store(folder, limit=limit)
        for age, name in enumerate("abc"):
            store.put(store_key(name=name), StoreEntry({"x": np.full(125, age, dtype=np.float64)}))
            os.utime(store.path(store_key(name=name)), (1000 + age, 1000 + age))
        return store

    @staticmethod
    def kept(store):
        return "".join(name for name in "abcd" if store.has(store_key(name=name)))

    @pytest.mark.parametrize(("limit", "kept"), [(6000, "abcd"), (4200, "bcd"), (3000, "cd"), (1100, "d")])
    def test_removes_the_least_recently_used_and_keeps_the_new(self, tmp_path, limit, kept):
        self.filled(tmp_path)
        store = Store(tmp_path, limit=limit)
        assert store.put(store_key(name="d"), StoreEntry({"x": np.zeros(125)}))
        assert not store.put(store_key(name="e"), StoreEntry({"x": np.zeros(1000)})), "beyond the limit"
        assert self.kept(store) == kept

    def test_reading_is_use(self, tmp_path):
        store = self.filled(tmp_path, 4200)
        store.get(store_key(name="a"))
        store.put(store_key(name="d"), StoreEntry({"x": np.zeros(125)}))
        assert self.kept(store) == "acd"


def python(code, *arguments, **options):
    """Run a script that has the store's names at hand."""
    head = "import sys\nfrom pathlib import Path\nimport numpy as np\n"
    head += "from benchmark.experiment.store import Store, StoreEntry, store_key\n"
    command = [sys.executable, "-c", head + code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


SHARE = """
folder, limit, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
said = []
random = np.random.default_rng(seed)
store = Store(folder, limit=limit, warn=said.append)
hits = 0
for turn in range(400):
    number = int(random.integers(6))
    key = store_key(number=number)
    if random.random() < 0.5:
        assert store.put(key, StoreEntry({"x": np.full(5000 + number, float(number))}, {"number": number}))
    else:
        entry = store.get(key)
        if entry is not None:
            hits += 1
            assert entry.facts == {"number": number} and len(entry.arrays["x"]) == 5000 + number
            assert (entry.arrays["x"] == number).all()
assert not said, said
print(hits)
"""


def test_three_processes_share_a_store_with_room_for_three_of_six_entries(tmp_path):
    limit = 150_000
    workers = [python(SHARE, tmp_path, limit, seed) for seed in range(3)]
    for worker in workers:
        out, error = worker.communicate(timeout=60)
        assert worker.returncode == 0, error
        assert int(out) > 0
    said = []
    store = Store(tmp_path, limit=limit, warn=said.append)
    assert not list(tmp_path.glob("*/.*"))
    assert sum(size for _, size, _ in store.entries()) <= limit
    assert sum(store.get(store_key(number=number)) is not None for number in range(6)) == 3
    assert not said


def test_what_a_killed_writer_left_is_an_entry_once_nobody_can_be_writing_it(store):
    left = store.path(KEY).with_name(".left.tmp")
    left.parent.mkdir(parents=True)
    left.touch()
    assert store.entries() == []
    os.utime(left, (time.time() - 25 * 3600,) * 2)
    assert [path for path, *_ in store.entries()] == [left]
    store.clear()
    assert not left.exists()


FULL = """
import resource

said = []
store = Store(Path(sys.argv[1]), limit=10**9, warn=said.append)
small, large = StoreEntry({"x": np.arange(10.0)}), StoreEntry({"x": np.arange(10_000.0)})
assert store.put(store_key(n=1), small)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
assert not store.put(store_key(n=2), large)
assert not store.put(store_key(n=3), small)
assert store.get(store_key(n=2)) is None and store.get(store_key(n=3)) is None
assert (store.get(store_key(n=1)).arrays["x"] == np.arange(10.0)).all()
assert not list(Path(store.address).glob("*/.*"))
print(*said, sep="\\n")
"""


def test_a_full_disk_is_told_once_and_what_was_kept_stays(tmp_path):
    worker = python(FULL, tmp_path)
    out, error = worker.communicate(timeout=60)
    assert worker.returncode == 0, error
    entry = Store(tmp_path).path(store_key(n=2))
    assert out.splitlines() == [f"results are no longer kept: {tmp_path}: can't write {entry}: File too large"]


class TestKeys:
    @given(a=st.dictionaries(st.text(), FACTS, max_size=2), b=st.dictionaries(st.text(), FACTS, max_size=2))
    def test_differ_where_the_content_does(self, a, b):
        a, b = ({f"x{name}": value for name, value in each.items()} for each in (a, b))
        assert a == b or store_key(**a) != store_key(**b)

    @pytest.mark.parametrize("change", [lambda x: x + 1, lambda x: x.reshape(2, 3), lambda x: x.astype(np.int32)])
    def test_digests_of_arrays_see_values_shape_and_type(self, change):
        array = np.arange(6, dtype=np.int64)
        assert array_digest(array) == array_digest(array.copy()) == array_digest(np.arange(12)[::2] // 2)
        assert array_digest(change(array)) != array_digest(array)
