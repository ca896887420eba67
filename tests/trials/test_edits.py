"""Files that are edited while a run reads them: counts of one content or a refusal, and what it was comes back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.corpora import file_digest
from benchmark.corpora.user import decompress, records
from benchmark.experiment.store import Store
from tests.experiment.test_edited_corpus import FORMATS, REFUSAL, STAGES, counts_of, found_or_refused, write
from tests.trials.limits import examples, trial


@examples(1_500, 30)
@given(
    name=st.sampled_from(list(FORMATS)),
    stage=st.sampled_from(list(STAGES)),
    contents=st.lists(st.integers(2, 8), min_size=2, max_size=2, unique=True),
    forged=st.booleans(),
    block=st.sampled_from((100, 512, 4096, 2**20)),
    piece=st.sampled_from((16, 64, 1024)),
    batch=st.sampled_from((5, 20, 200)),
)
@trial()
def test_counts_are_of_one_content_or_refused(
    name: str, stage: str, contents: list[int], forged: bool, block: int, piece: int, batch: int
) -> None:
    old, new = map(FORMATS[name], contents)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        top, store = Path(folder), Store(Path(folder) / "store")
        patch.setattr(file_digest, "DIGEST_BLOCK_BYTES", block)
        patch.setattr(decompress, "READ_BYTES", piece)
        patch.setattr(records, "RECORD_BATCH_ROWS", batch)
        write(top, new, forged=False)
        of_new = counts_of(top, name, Store(top / "fresh"))
        write(top, old, forged=False)
        of_old = counts_of(top, name, Store(top / "fresh"))
        write(top, old, forged=False)
        with pytest.MonkeyPatch.context() as stages:
            STAGES[stage](stages, lambda: write(top, new, forged=forged))
            found = found_or_refused(lambda: counts_of(top, name, store))
        assert found in (REFUSAL, of_old, of_new)
        write(top, old, forged=forged)
        assert counts_of(top, name, store) == of_old
