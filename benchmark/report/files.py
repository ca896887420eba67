"""From a summary to files: each is written whole or not at all, and equal summaries give equal bytes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from benchmark.errors import BenchError
from benchmark.report.figures import accuracy_figure, png_bytes, svg_bytes
from benchmark.report.summary import TABLES
from benchmark.report.tables import frame_csv, table_csv, table_latex, table_markdown

if TYPE_CHECKING:
    from pathlib import Path

    from benchmark.report.summary import Summary


def write_all(summary: Summary, directory: Path) -> list[Path]:
    """Write every table and figure of the summary, and give their paths.

    All is rendered before the first file is touched.
    """
    figure = accuracy_figure(summary)
    texts = {"table.md": table_markdown(summary), "table.csv": table_csv(summary), "table.tex": table_latex(summary)}
    texts |= {f"{name}.csv": frame_csv(getattr(summary, name), columns) for name, columns in TABLES.items()}
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {"figure.png": png_bytes(figure), "figure.svg": svg_bytes(figure)}
    for name, content in contents.items():
        write_whole(directory / name, content)
    return [directory / name for name in contents]


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file by its new content in one step, so that a reader never sees half of it.

    Folders above it that are missing are made.

    Parameters
    ----------
    path : Path
    content : bytes

    Raises
    ------
    BenchError
        Where the file system refuses; the old content, if any, stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BenchError(f"can't write {path}: {error.strerror or error}") from None
