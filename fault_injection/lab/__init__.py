"""A real control plane on this machine: etcd, kube-apiserver, kube-scheduler and kube-controller-manager of one release, on loopback."""

from __future__ import annotations

from .errors import ApiError, LabError
from .lab import Lab

__all__ = ["ApiError", "Lab", "LabError"]
