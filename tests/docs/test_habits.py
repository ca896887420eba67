"""Files that hosts and tools look for: a workflow, hooks, templates and what they must agree with."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).parents[2]


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def test_the_workflow_only_calls_what_guards_the_project() -> None:
    text = read(".github/workflows/ci.yml")
    jobs: dict[str, Any] = yaml.safe_load(text)["jobs"]
    ran = {job: [step["run"] for step in found["steps"] if "run" in step] for job, found in jobs.items()}
    assert ran == {"linux": [".ci/run"], "macos": [".ci/wheel"]}
    assert all((REPOSITORY / name).stat().st_mode & 0o111 for name in (".ci/run", ".ci/wheel"))
    versions = [each.rpartition(":: ")[2] for each in tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == [each for each in versions if re.fullmatch(r"3\.\d+", each)]
    assert text.startswith("# Not tried:")


def test_hooks_are_those_of_the_locked_environment() -> None:
    """Local hooks need no address, and have the versions that `make lint` and `make types` run."""
    (repo,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert repo["repo"] == "local"
    assert {hook["entry"].split()[0] for hook in repo["hooks"]} == {".venv/bin/ruff", ".venv/bin/mypy"}
    assert {"ruff", "mypy"} <= set(re.findall(r"(?m)^([\w-]+)==", read("requirements-test.lock")))


@pytest.mark.parametrize("name", ["bug", "result"])
def test_an_issue_template_has_a_head(name: str) -> None:
    _, head, body = read(f".github/ISSUE_TEMPLATE/{name}.md").split("---\n", 2)
    assert {"name", "about"} == set(yaml.safe_load(head))
    assert "`bench " in body


def test_the_image_is_made_as_the_environment_that_is_tested_offline() -> None:
    """`.ci/offline` runs the Makefile's steps without docker; the Dockerfile has the same ones."""
    image, make, offline = (" ".join(read(name).split()) for name in ("Dockerfile", "Makefile", ".ci/offline"))
    compiled = "from benchmark.system.numba_jit import compile_all; compile_all()"
    assert compiled in image
    assert compiled in make
    for text in (image, make):
        assert "--require-hashes -r requirements.lock" in text
        assert "--no-deps --editable ." in text
    assert "make PYTHON=" in offline
    assert "bench run quickstart" in offline
    assert 'CMD ["run", "quickstart"]' in image
