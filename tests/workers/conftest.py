"""A scheduler and workers of Dask, and an S3 server, in processes of their own."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from tests.builders import Notebook
from tests.workers.clusters import Dask

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def dask(bucket: str) -> Iterator[Dask]:
    """A scheduler whose workers see the bucket, too."""
    pytest.importorskip("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    found = Dask()
    yield found
    found.end()


@pytest.fixture
def notebook() -> Notebook:
    return Notebook()


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """The address of an empty bucket, with a name of its own: all servers of a process share their buckets."""
    moto, s3fs = pytest.importorskip("moto.server"), pytest.importorskip("s3fs")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    given = {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (given | dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "test")).items():
            patch.setenv(name, value)
        name = f"bucket-{port}"
        s3fs.S3FileSystem().mkdir(name)
        yield f"s3://{name}"
    server.stop()
