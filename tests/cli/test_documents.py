"""What the documents for operators name is there: files, options of the command, modules."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from k8s_topo_mcp.cli import parser

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "docs/security.md", "deploy/server.yaml", "deploy/Containerfile", "fault_injection/README.md")
FOREIGN = {"README.md": {"--raw", "--seed"}}
"""Options of kubectl and of the benchmarks."""


def options(of: argparse.ArgumentParser) -> Iterator[str]:
    for action in of._actions:  # pyright: ignore[reportPrivateUsage]
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            for inner in action.choices.values():
                yield from options(inner)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_and_modules_that_are_named_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:tests|docs|sources|objects|deploy|src|fault_injection|benchmarks)/[\w./-]+)`", text)
    paths += re.findall(r"\]\(([^)#:]+)\)", text)
    places = (ROOT, ROOT / "src/k8s_topo_mcp", (ROOT / name).parent)
    assert [path for path in paths if not any((place / path).exists() for place in places)] == []
    assert [file for file in re.findall(r"`(test_\w+\.py)`", text) if not list(ROOT.glob(f"tests/**/{file}"))] == []
    assert [module for module in re.findall(r"python\s+-m\s+([a-z_.]+)", text) if find_spec(module.rstrip(".")) is None] == []


@pytest.mark.parametrize("name", ["README.md", "docs/security.md"])
def test_options_that_are_named_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    assert named - set(options(parser())) - FOREIGN.get(name, set()) == set()
