"""Names that are others misspelt, and names that only look like others."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.spelling import misspelt


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gpus", "gpu"),
        ("gup", "gpu"),
        ("gpu.nvida.com", "gpu.nvidia.com"),
        ("gpu.nvidia.co", "gpu.nvidia.com"),
        ("compute-domian-defualt-channel", "compute-domain-default-channel"),
        ("rdme-nic", "rdma-nic"),
        ("gpu-h100s", "gpu-h100"),
        ("same", "same"),
    ],
)
def test_a_slip_in_a_word_is_a_misspelling(written: str, meant: str) -> None:
    assert misspelt(written, meant)
    assert misspelt(meant, written)


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("gpu-h100", "gpu-l4"),
        ("gpu-h100", "gpu-h200"),
        ("gpu-l4", "gpu-l40"),
        ("nvidia-gpu", "amd-gpu"),
        ("gpu.amd.com", "gpu.arm.com"),
        ("gpu", "tpu"),
        ("gpu-large", "gpu"),
        ("gpu.example.org", "gpu"),
        ("rdma", "rmad"),
        ("nvidiaa", "nvida"),
    ],
)
def test_another_word_or_number_is_another_name(written: str, other: str) -> None:
    assert not misspelt(written, other)
    assert not misspelt(other, written)
