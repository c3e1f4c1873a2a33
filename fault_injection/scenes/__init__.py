"""The vocabulary for clusters in code: nodes of real shapes with the slices that their drivers publish, claims, pods, workloads."""

from __future__ import annotations

from .parts import distinct, first_of, on_nodes, request, same, taint, tolerate
from .scene import SHAPES, Scene

__all__ = ["SHAPES", "Scene", "distinct", "first_of", "on_nodes", "request", "same", "taint", "tolerate"]
