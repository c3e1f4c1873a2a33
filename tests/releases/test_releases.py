"""Which release, which gates, and how each is known."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.objects import ApiObject, Node, decode
from k8s_topo_mcp.releases import (
    DEFAULTS,
    Evidence,
    VersionError,
    default_gates,
    infer,
    parse_gates,
    parse_minor,
    read_server_version,
    release_from,
)

SCENE = Path(__file__).parents[1] / "scenes/four-h100-nodes"
UNSTAMPED = {"major": "1", "minor": "37", "gitVersion": "v0.0.0-master+$Format:%H$", "minCompatibilityMinor": "36"}


@pytest.mark.parametrize(
    ("text", "minor", "version"),
    [
        ("v1.37.2", 37, "1.37.2"),
        ("1.36", 36, "1.36"),
        ("1.36+", 36, "1.36"),
        ("v1.34.2-eks-ecaa3a6", 34, "1.34.2"),
        ("v1.35.1+k3s1", 35, "1.35.1"),
        ("v1.36.3-gke.1082000", 36, "1.36.3"),
        ("v1.38.0-alpha.2", 38, "1.38.0"),
    ],
)
def test_version_strings_of_vendors_parse(text: str, minor: int, version: str) -> None:
    assert parse_minor(text) == (minor, version)


@pytest.mark.parametrize("text", ["", "latest", "v0.0.0-master+$Format:%H$", "2.37", "1", "v1.x", "x" * 1000, "1.99999"])
def test_what_is_no_version_is_refused_with_the_right_form(text: str) -> None:
    with pytest.raises(VersionError, match=r"right would be 1\.37"):
        parse_minor(text)


def test_a_binary_without_stamp_is_known_by_its_minor() -> None:
    found = release_from(UNSTAMPED)
    assert (str(found), found.minor, found.basis, found.version) == ("1.37", 37, "observed", "1.37")


def test_a_minor_with_plus_is_read_where_the_version_is_not() -> None:
    assert read_server_version({"major": "1", "minor": "36+", "gitVersion": "unknown"}).minor == 36


def test_the_output_of_kubectl_version_is_read() -> None:
    answer = {"clientVersion": {"gitVersion": "v1.30.0"}, "serverVersion": {"major": "1", "minor": "35", "gitVersion": "v1.35.4"}}
    assert release_from(answer).version == "1.35.4"


@pytest.mark.parametrize("answer", [{}, {"gitVersion": "x"}, {"gitVersion": 3, "minor": []}, {"clientVersion": {"gitVersion": "v1.37.0"}}])
def test_an_answer_that_names_no_release_is_refused(answer: dict[str, Any]) -> None:
    with pytest.raises(VersionError):
        release_from(answer)


@pytest.mark.parametrize(("given", "judged"), [("1.33", 34), (38, 37), ("v1.40.1", 37)])
def test_a_release_that_is_not_modelled_is_judged_as_the_nearest_and_says_so(given: str | int, judged: int) -> None:
    found = release_from(given_minor=given)
    assert found.minor == judged
    assert f"judged as 1.{judged}" in found.note


def test_nothing_known_is_the_newest_and_assumed() -> None:
    found = release_from()
    assert (found.minor, found.basis) == (37, "assumed")
    assert found.gate("DRADeviceTaints").basis == "assumed"


def test_gates_come_from_the_surest_source() -> None:
    metrics = 'kubernetes_feature_enabled{name="DRAConsumableCapacity",stage="BETA"} 0\nkubernetes_feature_enabled{name="X",stage=""} 1\n'
    evidence = Evidence(37, "why", {"DRAListTypeAttributes": "a", "DRAConsumableCapacity": "b"})
    found = release_from(UNSTAMPED, metrics, given_gates={"GenericWorkload": True}, evidence=evidence)
    assert (found.enabled("GenericWorkload"), found.gate("GenericWorkload").basis) == (True, "given")
    assert (found.enabled("DRAConsumableCapacity"), found.gate("DRAConsumableCapacity").basis) == (False, "observed")
    assert (found.enabled("DRAListTypeAttributes"), found.gate("DRAListTypeAttributes").basis) == (True, "inferred")
    assert (found.enabled("DRADeviceTaints"), found.gate("DRADeviceTaints").basis) == (True, "assumed")
    assert found.enabled("X")


def test_a_given_release_that_contradicts_the_server_ignores_its_gates() -> None:
    metrics = 'kubernetes_feature_enabled{name="DRAPartitionableDevices",stage="BETA"} 1\n'
    found = release_from(UNSTAMPED, metrics, given_minor="1.34")
    assert (found.minor, found.basis) == (34, "given")
    assert not found.enabled("DRAPartitionableDevices")


def test_a_gate_that_a_release_does_not_have_is_off() -> None:
    assert not release_from(given_minor=34).enabled("DRADerivedAttributes")
    assert not release_from(given_minor=34).enabled("NoSuchGate")


def test_an_emulated_release_has_the_gates_of_that_release() -> None:
    found = release_from({"gitVersion": "v1.37.2", "minor": "37", "emulationMinor": "35"})
    assert found.minor == 37
    assert not found.enabled("DRAPartitionableDevices")
    assert "emulates 1.35" in found.note


def test_the_gate_that_needs_compatibility_is_off_by_default_as_on_a_real_server() -> None:
    assert not default_gates(37)["DRAFractionalCapacityRange"].enabled
    assert default_gates(37, compatibility=37)["DRAFractionalCapacityRange"].enabled


def test_defaults_agree_with_what_a_real_1_37_served() -> None:
    served = parse_gates((SCENE / "feature-gates.txt").read_text())
    assert len(served) > 250
    defaults = default_gates(37, compatibility=36)
    assert {name: state.enabled for name, state in defaults.items() if name in served} == {
        name: enabled for name, enabled in served.items() if name in defaults
    }


def test_every_release_has_its_own_gates() -> None:
    assert [("GangScheduling" in DEFAULTS[minor], "DRADerivedAttributes" in DEFAULTS[minor]) for minor in (34, 35, 36, 37)] == [
        (False, False),
        (True, False),
        (True, False),
        (False, True),
    ]
    assert [DEFAULTS[minor]["DRADeviceTaints"].enabled for minor in (34, 35, 36, 37)] == [False, False, True, True]
    assert [DEFAULTS[minor]["DRADeviceTaints"].stage for minor in (34, 35, 36, 37)] == ["alpha", "alpha", "beta", "GA"]
    assert DEFAULTS[37]["DRAExtendedResource"].locked


def _node(kubelet: str) -> Node:
    found = decode({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"nodeInfo": {"kubeletVersion": kubelet}}})
    assert isinstance(found, Node)
    return found


@pytest.mark.parametrize(
    ("served", "minor"),
    [
        ({("resource.k8s.io", "v1", "DeviceTaintRule")}, 37),
        ({("resource.k8s.io", "v1", "ResourceSlice")}, 34),
        ({("scheduling.k8s.io", "v1alpha2", "PodGroup"), ("resource.k8s.io", "v1", "ResourceSlice")}, 36),
        ({("scheduling.k8s.io", "v1alpha1", "Workload")}, 35),
        (set(), None),
    ],
)
def test_served_versions_tell_the_release(served: set[tuple[str, str, str]], minor: int | None) -> None:
    assert infer({}, served).minor == minor


def test_the_newest_kubelet_bounds_the_release() -> None:
    found = infer({Node: [_node("v1.35.2"), _node("v1.36.1-gke.1"), _node("")]}, {("resource.k8s.io", "v1", "ResourceSlice")})
    assert found.minor == 36
    assert "kubelet v1.36.1-gke.1" in found.why


def test_a_field_that_survived_tells_its_gate() -> None:
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"schedulingGroup": {"podGroupName": "g"}}})
    assert pod is not None
    objects: dict[type[ApiObject], list[ApiObject]] = {type(pod): [pod]}
    found = release_from(evidence=infer(objects, {("scheduling.k8s.io", "v1beta1", "PodGroup")}))
    assert (found.minor, found.basis) == (37, "inferred")
    assert (found.enabled("GenericWorkload"), found.gate("GenericWorkload").basis) == (True, "inferred")


@pytest.mark.parametrize("text", ["A=true,Bc=false", "Ax=true\nBc: FALSE\n", "--feature-gates=Ax=true,Bc=false"])
def test_gates_may_be_written_as_flags(text: str) -> None:
    assert parse_gates(text).get("Bc") is False


@given(text=st.text(max_size=200) | st.from_regex(r"v?1\.[0-9]{1,6}[a-z.+-]*"))
def test_any_text_is_a_version_or_refused(text: str) -> None:
    minor, version = 0, "1.0"
    with suppress(VersionError):
        minor, version = parse_minor(text)
    assert version.startswith(f"1.{minor}")


@given(
    answer=st.dictionaries(
        st.sampled_from(["gitVersion", "minor", "major", "serverVersion", "clientVersion", "emulationMinor"]),
        st.none() | st.integers() | st.text(max_size=9) | st.just("v1.36.2") | st.dictionaries(st.text(max_size=3), st.text(max_size=3)),
    ),
    text=st.text(max_size=80),
)
def test_any_answer_gives_a_known_release_or_is_refused(answer: dict[str, Any], text: str) -> None:
    minor = 37
    with suppress(VersionError):
        minor = release_from(answer, text).minor
    assert minor in DEFAULTS
