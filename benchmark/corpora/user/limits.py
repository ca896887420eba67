"""Limits on a user's files, checked before the work that they would make endless: a table, and how each is set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmark.system.errors import DataError
from benchmark.system.memory import read_number

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class FileLimit:
    """Limit on a number.

    Parameters
    ----------
    variable : str
        Variable of the environment that sets another limit.
    usual : float
        Limit unless it is set.
    what : str
        What is counted, in messages.
    largest : float
        Largest limit that can be set.
    unit : float
        What the variable's number is multiplied by.
    """

    variable: str
    usual: float
    what: str
    largest: float = math.inf
    unit: float = 1

    @property
    def most(self) -> int:
        """The limit; raise BenchError if its variable is no number."""
        return int(read_number(self.variable, self.usual, self.what, self.largest) * self.unit)

    def check(self, number: int, where: object) -> None:
        """Raise DataError if a file has more."""
        if number > self.most:
            raise self.error(f"{where}: has {number:,} {self.what}; at most {self.most:,} are read")

    def too_many(self, where: object) -> DataError:
        """Return the error for a file that has more, in a number that isn't known."""
        return self.error(f"{where}: has more than {self.most:,} {self.what}, the most that are read")

    def error(self, problem: str) -> DataError:
        """Return the error for a number above the limit, with how to set another."""
        most = "" if math.isinf(self.largest) else f", of at most {self.largest:,.0f}"
        return DataError(f"{problem}; {self.variable} in the environment sets another limit{most}")


#: Classes of a corpus. Predictions are stored as numbers of 16 bits.
CLASSES = FileLimit("BENCH_MAX_CLASSES", 20_000, "classes", largest=2**15 - 1)
#: Rows of a table (blank ones, too), lines of JSON, objects of an array.
RECORDS = FileLimit("BENCH_MAX_RECORDS", 10_000_000, "records")
#: Bytes of a compressed file, decompressed; and their ratio to the bytes of the file.
UNPACKED = FileLimit("BENCH_MAX_UNPACKED_GB", 4, "gigabytes", unit=1e9)
UNPACKED_RATIO = FileLimit("BENCH_MAX_UNPACKED_RATIO", 200, "times the bytes of the file")
FILE_LIMITS = (CLASSES, RECORDS, UNPACKED, UNPACKED_RATIO)
#: Bytes to which any file may be decompressed: short ones are sometimes very alike.
MIN_UNPACKED_BYTES = 2**24


def unpacked_limit(packed: int) -> int:
    """Return how many bytes a compressed file of so many bytes may be decompressed to."""
    return min(UNPACKED.most, max(MIN_UNPACKED_BYTES, UNPACKED_RATIO.most * packed))


def unpacked_error(path: Path, packed: int) -> DataError:
    """Return the error for a compressed file of so many bytes that is decompressed to too many."""
    most = unpacked_limit(packed)
    if most == UNPACKED.most:
        return UNPACKED.error(f"{path}: is decompressed to more than {most / 1e9:g} GB")
    ratio = f"{UNPACKED_RATIO.most:,} times its {packed:,} bytes"
    return UNPACKED_RATIO.error(f"{path}: is decompressed to more than {most:,} bytes, {ratio}")
