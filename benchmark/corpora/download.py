"""Download a corpus's archive from the addresses of its card, tried in turn, and verify it before it is stored."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pooch
import requests

from benchmark.corpora.archive import CorpusSource, read_files, verify_digest
from benchmark.system.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmark.corpora.card import DatasetCard

RETRIES = 2
#: Seconds without an answer, or without a byte, before another attempt.
DOWNLOAD_TIMEOUT = 30.0


def download_archive(card: DatasetCard, dest: Path, *, notify: Callable[[str], None]) -> CorpusSource:
    """Download a corpus's archive to `dest`, from the first address with the right content, https before http.

    Parameters
    ----------
    card : DatasetCard
    dest : Path
        Folder, created if needed. The archive gets the first of the card's archive names, once its content is verified.
    notify : callable
        Called with messages: the licence before the download, then each address, and why one failed.

    Returns
    -------
    CorpusSource
        The archive in `dest`.

    Raises
    ------
    DataError
        No address has the right content, or `dest` can't be written; nothing is left in `dest`.
    """
    notify(f"{card.title}. {card.licence}")
    pooch.get_logger().setLevel("WARNING")
    name, failures = card.archives[0], []
    try:
        dest.mkdir(parents=True, exist_ok=True)
        # a temporary folder inside `dest`: a rename is atomic only within one file system
        with tempfile.TemporaryDirectory(prefix=".download-", dir=dest) as folder:
            for address in sorted(card.addresses, key=lambda address: not address.startswith("https:")):
                notify(f"Downloading {address}")
                try:
                    source = CorpusSource(_fetched(address, name, Path(folder), card.archive_sha256))
                    verify_digest(read_files(source, card), card, source)
                except (requests.RequestException, ValueError, DataError) as error:
                    problem = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                    failures.append(f"\n  {address}: {problem}")
                else:
                    return CorpusSource((Path(folder) / name).replace(dest / name))
    except OSError as error:
        raise DataError(f"{card.title} can't be downloaded to {dest}: {error.strerror or error}.") from None
    raise DataError(f"{card.title} could not be downloaded:{''.join(failures) or ' the card names no address.'}")


def _fetched(address: str, name: str, folder: Path, sha256: str | None) -> Path:
    """Return the file that pooch downloaded, whose sha256 it has checked if that is known."""
    registry, urls = {name: None if sha256 is None else f"sha256:{sha256}"}, {name: address}
    fetcher = pooch.create(path=folder, base_url="", registry=registry, urls=urls, retry_if_failed=RETRIES)
    (folder / name).unlink(missing_ok=True)  # of an earlier address
    return Path(fetcher.fetch(name, downloader=pooch.HTTPDownloader(timeout=DOWNLOAD_TIMEOUT)))
