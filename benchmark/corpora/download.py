"""Download a corpus's archive from the addresses of its card, tried in turn, and verify it before it is stored.

A server may send anything. No more bytes are accepted than the card allows. If the card has the archive's sha256, it is
checked before the archive is read; otherwise the content digest is checked, after a read that is limited in size.
"""

from __future__ import annotations

import io
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pooch
import requests
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from benchmark.corpora.archive import CorpusSource, damaged_source_error, read_files, source_key, verify_digest
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer

    from benchmark.corpora.card import DatasetCard

ATTEMPTS = 3
RETRY_PAUSE = 1.0
"""Seconds before a second attempt; twice as long before the third."""
DOWNLOAD_TIMEOUT = 30.0
"""Seconds without an answer, or without a byte, before the next address is tried."""


class DownloadBar:
    """Progress bar for pooch, on standard error; silent unless that is a terminal."""

    def __init__(self, label: str = "downloading") -> None:
        console = Console(stderr=True)
        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
        self._progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._progress.add_task(label, total=None)

    @property
    def total(self) -> int:
        """Expected number of bytes, 0 where the server doesn't send it; setting it shows the bar."""
        return int(self._progress.tasks[0].total or 0)

    @total.setter
    def total(self, total: int) -> None:
        self._progress.update(self._task, total=total or None)
        self._progress.start()

    def update(self, amount: int) -> None:
        """Advance the bar by `amount` bytes."""
        self._progress.advance(self._task, amount)

    def reset(self) -> None:
        """Set the bar back to 0 bytes."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()


def download_archive(
    card: DatasetCard, dest: Path, *, notify: Callable[[str], None], progress: Callable[[], DownloadBar] | None = None
) -> CorpusSource:
    """Download a corpus's archive to `dest`, from the first address with the right content, https before http.

    Parameters
    ----------
    card : DatasetCard
    dest : Path
        Folder, created if needed. The archive gets the first of the card's archive names, once its content is verified.
    notify : callable
        Called with messages: the licence before the download, then each address, and why one failed.
    progress : callable, optional
        Creates a bar for each attempt, for example `DownloadBar`.

    Returns
    -------
    Source
        The archive in `dest`.

    Raises
    ------
    DataError
        No address has the right content, or `dest` can't be written; nothing is left in `dest`.
    """
    notify(f"{card.title}. {card.licence}")
    failures = []
    try:
        dest.mkdir(parents=True, exist_ok=True)
        # a temporary folder inside `dest`: a rename is atomic only within one file system
        with tempfile.TemporaryDirectory(prefix=".download-", dir=dest) as folder:
            fetched = Path(folder) / card.archives[0]
            for address in sorted(card.addresses, key=lambda address: not address.startswith("https:")):
                notify(f"Downloading {address}")
                problem = _fetch(address, fetched, card.most_bytes, progress) or _problem_with(fetched, card)
                if problem is None:
                    return CorpusSource(fetched.replace(dest / fetched.name))
                failures.append(f"\n  {address}: {problem}")
                notify(f"{address}: {problem}")
    except OSError as error:
        raise DataError(f"{card.title} can't be downloaded to {dest}: {error.strerror or error}.") from None
    raise DataError(
        f"{card.title} could not be downloaded:{''.join(failures) or ' the card names no address.'}\n"
        f"Get {card.archives[0]} (content digest {card.digest}) in another way and put it, or its unpacked folder, "
        f"into {dest} or a folder that $BENCH_DATASETS names."
    )


class _Bounded(io.BufferedWriter):
    """File that raises DataError beyond `most` bytes."""

    def __init__(self, target: Path, most: int) -> None:
        super().__init__(io.FileIO(target, "w"))
        self._most = most

    def promise(self, response: requests.Response, **_: Any) -> None:
        """Raise DataError if the Content-Length is too large, before the body is read."""
        self._refuse(int(response.headers.get("Content-Length", 0)))

    def write(self, chunk: ReadableBuffer) -> int:
        """Write a chunk; raise DataError if the file would become too large."""
        self._refuse(self.tell() + memoryview(chunk).nbytes)
        return super().write(chunk)

    def _refuse(self, size: int) -> None:
        if size > self._most:
            raise DataError(f"it is larger than the {self._most:,} bytes that the card allows")


def _fetch(address: str, target: Path, most: int, progress: Callable[[], DownloadBar] | None) -> str | None:
    """Download at most `most` bytes to `target`, retrying temporary errors; return the problem, or None."""
    problem = None
    for attempt in range(ATTEMPTS):
        time.sleep(RETRY_PAUSE * attempt)
        bar = progress() if progress else None
        try:
            with _Bounded(target, most) as file:
                hooks = {"response": file.promise}
                get = pooch.HTTPDownloader(
                    progressbar=bar or False, chunk_size=1 << 16, timeout=DOWNLOAD_TIMEOUT, hooks=hooks
                )
                get(address, file, None)
        except requests.HTTPError as error:
            problem = f"the server answers: {error}"
            if error.response is not None and error.response.status_code < 500:  # 403 and 404 are permanent
                break
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            problem = f"no connection, or it was interrupted ({type(error).__name__})"
        except DataError as error:
            problem = str(error)
            break
        except (requests.RequestException, ValueError) as error:  # such as a Content-Length that is not a number
            problem = f"{type(error).__name__}: {error}"
            break
        else:
            return None
        finally:
            if bar is not None:
                bar.close()
    return problem


def _problem_with(fetched: Path, card: DatasetCard) -> str | None:
    """Return what is wrong with a download, or None if its content is the corpus."""
    source = CorpusSource(fetched)
    try:
        digest = card.archive_sha256 and source_key(source, card)
        if digest != card.archive_sha256:
            raise damaged_source_error(source, card, f"has the sha256 {digest}, and not {card.archive_sha256}")
        verify_digest(read_files(source, card), card, source)
    except DataError as error:
        return f"it is not the corpus: {str(error).removeprefix(f'{source} ').splitlines()[0].rstrip(':')}"
    return None
