"""Names are defined once, and docstrings begin with verbs: what a reader of the code can count on."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[1] / "benchmark"
MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
#: First words of docstrings. Another one is added here if it is a verb in the imperative.
VERBS = set(
    """
    Accept Add Advance Align Allocate Allow Answer Append Apply Approximate Ask Assemble Assign Average Bind Book Build
    Cache Call Cancel Center Check Choose Clear Clip Close Collect Combine Compare Compile Compose Compute Concatenate
    Connect Convert Copy Correct Count Create Cut Decide Decode Define Delete Derive Describe Detect Differentiate
    Discard Divide Do Download Draw Drop Eliminate Encode End Ensure Enter Escape Estimate Evaluate Exclude Execute Exit
    Expand Explain Export Extract Factor Fail Fill Filter Find Finish Fit Flatten Fold Follow Format Forward Free Gather
    Generate Get Give Group Guard Guess Hand Handle Hash Hide Hold Identify Ignore Import Index Initialize Insert
    Integrate Interpolate Iterate Join Judge Keep Label Lay Learn Leave Let Limit Link List Load Locate Lock Log Look
    Make Map Mark Match Measure Merge Mirror Move Multiply Name Normalize Note Observe Omit Open Order Pack Pad Pair
    Parse Partition Pass Pause Permute Pick Pickle Place Plan Plot Pool Predict Prefix Prepare Print Probe Process
    Project Propose Prune Put Quote Raise Rank Read Rebuild Record Reduce Refuse Register Reject Release Remember Remove
    Rename Render Repeat Replace Report Request Require Reset Resolve Restore Return Reverse Rewrite Round Run Sample
    Save Say Scale Scan Score Search See Select Send Set Shift Show Shuffle Shut Simulate Skip Solve Sort Split Square
    Stack Start State Step Stop Store Strip Submit Sum Summarize Suppress Swap Take Tell Test Time Tokenize Trace Train
    Transform Translate Transpose Trim Truncate Try Turn Undo Union Unpack Update Upload Use Validate Verify Vote Wait
    Walk Warn Watch Weigh Weight Wrap Write Yield
    """.split()
)


def public_names(module: ast.Module) -> Iterator[str]:
    """The functions, classes and constants that a module defines at its top level."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def test_each_public_name_is_defined_once() -> None:
    """The functions of the command line are called as its commands are."""
    places = defaultdict(list)
    for path, module in MODULES.items():
        commands = path.parent.name == "cli"
        functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)} if commands else set()
        for name in public_names(module):
            if not name.startswith("_") and name not in functions:
                places[name].append(str(path.relative_to(PACKAGE)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def is_property(function: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in function.decorator_list)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_of_functions_begin_with_a_verb(path: Path) -> None:
    for node in ast.walk(MODULES[path]):
        if isinstance(node, ast.FunctionDef) and not is_property(node) and (text := ast.get_docstring(node)):
            first = text.split(maxsplit=1)[0].strip(".,:;`")
            assert first in VERBS, f"{node.name}, line {node.lineno}: {first!r} is no verb"
