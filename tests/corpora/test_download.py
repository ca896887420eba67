from __future__ import annotations

import hashlib
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import MappingProxyType

import pytest

from benchmark.corpora import archive, download, registry
from benchmark.system.errors import DataError
from tests.corpora.small import pack_files, small_card


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(download, "RETRY_PAUSE", 0.0)


@pytest.fixture
def archive_bytes(tmp_path, files):
    return pack_files(files, tmp_path / "made" / "webkb-data.gtar.gz", prefix=b"webkb/").read_bytes()


@pytest.fixture
def server(archive_bytes):
    """Serves /good, /wrong, /short (breaks off), /flaky (fails once), /down (always), /long (promises a terabyte),
    /endless (promises nothing and goes on), /odd (a length that is no number) and answers 403 for the rest; counts
    requests and bytes sent.
    """
    asked: list[str] = []
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            if self.path == "/down" or (self.path == "/flaky" and asked.count("/flaky") == 1):
                self.send_error(500)
                return
            body = {"/good": archive_bytes, "/flaky": archive_bytes, "/short": archive_bytes[:-100]}.get(self.path)
            if self.path == "/wrong":
                body = b"<html>Please accept our cookies</html>"
            if self.path in ("/long", "/endless", "/odd"):
                self.send_response(200)
                if length := {"/long": str(2**40), "/odd": "many"}.get(self.path):
                    self.send_header("Content-Length", length)
                self.end_headers()
                with suppress(OSError):
                    while sum(sent) < 2**27:
                        sent.append(self.wfile.write(bytes(2**16)))
                return
            if body is None:
                self.send_error(403)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(archive_bytes) if self.path == "/short" else len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", asked, sent
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.fixture
def fetch(server, tmp_path):
    """Download from these paths of the server; gives what was found and all that was told."""
    told: list[str] = []

    def call(*paths, facts=MappingProxyType({}), **options):
        addresses = [path if path.startswith("http") else server[0] + path for path in paths]
        card = small_card("webkb", addresses=addresses, size=2**20, **facts)
        return download.download_archive(card, tmp_path / "new" / "dest", notify=told.append, **options)

    call.told, call.dest, call.asked, call.sent = told, tmp_path / "new" / "dest", *server[1:]
    return call


def left(folder):
    return sorted(path.name for path in folder.rglob("*"))


def test_success(fetch, card, files):
    source = fetch("/good")
    assert source == archive.find_corpus_in(fetch.dest, card)
    assert dict(archive.read_files(source, card)) == files
    assert left(fetch.dest) == ["webkb-data.gtar.gz"]


def test_licence_is_told_before_anything_is_asked_for(server, tmp_path):
    asked_by_then: list[tuple[str, int]] = []
    card = small_card("webkb", addresses=[f"{server[0]}/good"])
    download.download_archive(card, tmp_path, notify=lambda line: asked_by_then.append((line, len(server[1]))))
    assert "Free." in asked_by_then[0][0]
    assert asked_by_then[0][1] == 0


def test_a_mirror_stands_in_for_a_refusal(fetch):
    fetch("/forbidden", "/good")
    assert fetch.asked == ["/forbidden", "/good"]
    assert any("403" in line for line in fetch.told)


def test_a_passing_failure_is_tried_again(fetch):
    fetch("/flaky")
    assert fetch.asked == ["/flaky", "/flaky"]


def test_a_failure_that_stays_is_given_up_after_three_attempts(fetch, server):
    fetch("/down", "/good")
    assert fetch.asked == ["/down"] * 3 + ["/good"]
    assert sum(line.startswith(f"{server[0]}/down: the server answers: 500 Server Error") for line in fetch.told) == 1


def test_all_that_is_told_of_a_download(fetch, server):
    """The licence, each address, and what was wrong with it; nothing more of the last."""
    fetch("/forbidden", "/wrong", "/good")
    where = server[0]
    assert fetch.told == [
        "Small webkb. Free.",
        f"Downloading {where}/forbidden",
        f"{where}/forbidden: the server answers: 403 Client Error: Forbidden for url: {where}/forbidden",
        f"Downloading {where}/wrong",
        f"{where}/wrong: it is not the corpus: is not a tar archive, or a truncated or corrupt one (truncated header).",
        f"Downloading {where}/good",
    ]


def test_all_that_is_said_where_no_address_has_the_corpus(fetch, server, card):
    for paths, problems in (
        (("/forbidden",), f"\n  {server[0]}/forbidden: the server answers: 403 Client Error: Forbidden for url: "),
        ((), " the card names no address.\nGet"),
    ):
        with pytest.raises(DataError) as caught:
            fetch(*paths)
        assert str(caught.value).startswith(f"Small webkb could not be downloaded:{problems}")
        assert str(caught.value).splitlines()[-1] == (
            f"Get webkb-data.gtar.gz (content digest {card.digest}) in another way and put it, or its unpacked folder, "
            f"into {fetch.dest} or a folder that $BENCH_DATASETS names."
        )


def test_a_bar_counts_the_bytes_of_its_attempt():
    bar = download.DownloadBar("some")
    task = bar._progress.tasks[0]
    assert (bar.total, task.total, task.description) == (0, None, "some")
    bar.total = 10
    bar.update(4)
    bar.update(3)
    assert (bar.total, task.total, task.completed) == (10, 10, 7)
    bar.reset()
    assert (bar.total, task.completed) == (10, 0)
    bar.close()
    assert not bar._progress.live.is_started
    unknown = download.DownloadBar()
    unknown.total = 0
    assert (unknown.total, unknown._progress.tasks[0].total) == (0, None)
    unknown.close()


def test_each_attempt_waits_longer_and_the_first_not_at_all(fetch, monkeypatch):
    waited: list[float] = []
    monkeypatch.setattr(download.time, "sleep", waited.append)
    monkeypatch.setattr(download, "RETRY_PAUSE", 1.0)
    fetch("/short", "/good")
    assert waited == [0.0, 1.0, 2.0, 0.0]


def test_a_broken_connection_is_tried_again_then_given_up(fetch):
    fetch("/short", "/good")
    assert fetch.asked == ["/short"] * download.ATTEMPTS + ["/good"]


def test_wrong_content_is_removed_and_the_next_address_tried(fetch):
    fetch("/wrong", "/good")
    assert any("not the corpus" in line for line in fetch.told)
    with pytest.raises(DataError, match="not the corpus"):
        fetch("/wrong")
    assert left(fetch.dest) == ["webkb-data.gtar.gz"]


@pytest.mark.parametrize("path", ["/long", "/endless"])
def test_no_more_is_taken_than_the_card_allows(fetch, path):
    fetch(path, "/good")
    assert fetch.asked == [path, "/good"]
    assert any(f"{path}: it is larger than the 4,165,632 bytes that the card allows" in line for line in fetch.told)
    assert sum(fetch.sent) < 2**26, "the server was let go on"
    assert left(fetch.dest) == ["webkb-data.gtar.gz"]


def test_a_length_that_is_no_number_is_given_up(fetch):
    fetch("/odd", "/good")
    assert fetch.asked == ["/odd", "/good"]


def test_what_is_not_the_archive_is_not_read(fetch, archive_bytes, monkeypatch):
    right = hashlib.sha256(archive_bytes).hexdigest()
    fetch("/good", facts={"archive_sha256": right})
    monkeypatch.setattr(download, "read_files", lambda *_: pytest.fail("it was read"))
    with pytest.raises(DataError, match=f"it is not the corpus: has the sha256 {right}, and not {'0' * 64}"):
        fetch("/good", facts={"archive_sha256": "0" * 64})


def test_secure_addresses_are_asked_first(fetch, server):
    secure = server[0].replace("http:", "https:") + "/x"
    fetch("/good", secure, "/flaky")
    assert [line.split()[1] for line in fetch.told if line.startswith("Downloading ")] == [secure, f"{server[0]}/good"]


def test_failure_everywhere_names_every_address_and_the_way_out(fetch, server, card):
    with pytest.raises(DataError) as caught:
        fetch("/forbidden", "/wrong")
    for part in (
        f"{server[0]}/forbidden",
        "403",
        f"{server[0]}/wrong",
        card.digest,
        str(fetch.dest),
        "$BENCH_DATASETS",
    ):
        assert part in str(caught.value)
    assert left(fetch.dest) == []


def test_no_network(fetch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/x"
        with pytest.raises(DataError, match="no connection"):
            fetch(address)
    with pytest.raises(DataError, match="not be downloaded"):
        fetch("http://no-such-host.invalid/x")
    assert left(fetch.dest) == []


def test_an_unwritable_destination_is_explained(fetch):
    fetch.dest.parent.mkdir()
    fetch.dest.write_text("a file, not a folder")
    with pytest.raises(DataError, match=r"can't be downloaded to .*dest"):
        fetch("/good")


def test_progress_sees_every_byte(fetch, archive_bytes):
    class Bar:
        total = 0

        def __init__(self):
            self.done, self.closed = 0, False
            bars.append(self)

        def update(self, amount):
            self.done += amount

        def reset(self):
            self.done = 0

        def close(self):
            self.closed = True

    bars: list[Bar] = []
    fetch("/good", progress=Bar)
    assert [(bar.total, bar.done, bar.closed) for bar in bars] == [(len(archive_bytes), len(archive_bytes), True)]
    bars.clear()
    fetch("/short", "/forbidden", "/wrong", "/good", progress=Bar)  # a bar for each attempt, and none stays open
    assert len(bars) == download.ATTEMPTS + 3
    assert all(bar.closed for bar in bars)


def test_the_bar_is_silent_where_there_is_no_terminal(fetch, capfd):
    fetch("/good", progress=download.DownloadBar)
    assert capfd.readouterr() == ("", "")


def test_locate_downloads_only_when_allowed(fetch, server, tmp_path, monkeypatch):
    card = small_card("webkb", addresses=[f"{server[0]}/good"])
    monkeypatch.setattr(registry, "dataset_card", lambda _: card)
    monkeypatch.setattr(registry, "CHECKOUT", tmp_path / "repository")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(registry.DATASETS_VARIABLE, raising=False)
    with pytest.raises(DataError, match="is not here"):
        registry.locate_corpus("webkb")
    assert fetch.asked == []
    source = registry.locate_corpus("webkb", download=True)
    assert source.path == tmp_path / "repository" / "datasets" / "webkb-data.gtar.gz"
    assert registry.locate_corpus("webkb", download=True) == source
    assert fetch.asked == ["/good"]
