"""Bad manifests: one clear error each, with path, line, column and the nearest right name; and whatever comes in, nothing but that."""

from __future__ import annotations

import contextlib
import json
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.cel import Environment
from k8s_topo_mcp.diagnosis.manifest import read_manifest
from k8s_topo_mcp.diagnosis.yaml_items import MAX_BYTES, ManifestError, yaml_items

from .manifests import CLAIM as WHOLE
from .manifests import POD, REFUSED, TAKEN, changed

NEWEST = Environment(37, list_attributes=False, consumable_capacity=True)
CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.nvidia.com
        selectors:
        - cel:
            expression: device.driver == "gpu.nvidia.com"
"""


def refused(text: str) -> str:
    with pytest.raises(ManifestError) as error:
        read_manifest(textwrap.dedent(text), "default", NEWEST)
    return str(error.value)


def test_a_good_claim_is_read() -> None:
    (document,) = read_manifest(CLAIM, "team", NEWEST)
    assert document.object.ref.namespace == "team"


CASES = {
    "a wrong field": (
        CLAIM.replace("deviceClassName", "deviceClass"),
        ["requests[0].exactly.deviceClass is not a field", "deviceClassName?", "line 9"],
    ),
    "a field in the wrong place": (
        CLAIM.replace("      exactly:\n        deviceClassName", "      deviceClassName: a\n      exactly:\n        deviceClassName"),
        ["requests[0].deviceClassName is not a field", "belongs under exactly", "line 8"],
    ),
    "a field of another case": (CLAIM.replace("selectors", "Selectors"), ["did you mean selectors?"]),
    "an unknown field without a likeness": (
        CLAIM.replace("name: gpu\n", "colour: red\n"),
        ["colour is not a field", "the fields here are"],
    ),
    "a list where there is none": (
        CLAIM.replace("deviceClassName: gpu.nvidia.com", "deviceClassName: [a]"),
        ["must be a plain value, is a list"],
    ),
    "no list where there is one": (
        CLAIM.replace("    - name: gpu\n      exactly:", "      x:\n       exactly:"),
        ["requests: must be a list", "line 6"],
    ),
    "CEL that doesn't parse": (CLAIM.replace('== "gpu', '=== "gpu'), ["selectors[0].cel.expression", "column 17", "line 12", "^"]),
    "CEL that doesn't compile": (CLAIM.replace("device.driver", "device.drivr"), ["undefined field 'drivr'", "column", "^"]),
    "CEL of the wrong type": (CLAIM.replace('device.driver == "gpu.nvidia.com"', "device.driver"), ["selectors[0].cel.expression"]),
    "a bad quantity": (CLAIM + "        capacity: {requests: {memory: 10Gx}}\n", ["exactly.capacity.requests[memory]", "10Gx", "line 13"]),
    "no kind": ("a: 1\n", ["document 1 has no apiVersion and kind"]),
    "a kind that can't be judged": (
        "apiVersion: v1\nkind: Sausage\n",
        ["v1 Sausage is not a kind that can be judged: judged are claims", "line 2"],
    ),
    "no object": ("- 1\n", ["document 1 is not an object"]),
    "YAML that isn't": ("a: [1\nb: }\n", ["not YAML", "line 2, column"]),
    "a tab": ("a:\n\tb: 1\n", ["not YAML", "line 2, column 1"]),
    "nothing": ("", ["empty", "ResourceClaim"]),
    "only a comment": ("# nothing\n", ["empty"]),
    "the second document": (CLAIM + "---\n" + CLAIM.replace("exactly", "exactely"), ["document 2", "did you mean exactly?"]),
    "an item of a list": (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: resource.k8s.io/v1\n  kind: ResourceClaim\n  spec: {device: {}}\n",
        ["spec.device is not a field", "did you mean devices?", "line 6"],
    ),
    **{
        f"a value that is none of its tag: {value}": (f"kind: Pod\nspec: {value}\n", [f"isn't a value of tag {value.split()[0]} (line 2,"])
        for value in ("!!bool foo", "!!timestamp foo", "!!int ''", "!!float ''", "!!null x")
    },
    **{
        f"a tag that JSON has nothing for: {value}": (f"kind: Pod\nspec: {value}\n", ["tag ", "isn't one of Kubernetes (line 2, column 7)"])
        for value in ("!!set {a}", "!!binary eA==", "!!python/object:os.system x", "!own x", "!!str [a]")
    },
    "a key that is none of its tag": ("kind: Pod\n? !!bool foo\n: 1\n", ["'foo' isn't a value of tag !!bool (line 2"]),
    "a number of thousands of digits": (f"kind: Pod\nspec: {'9' * 5000}\n", ["'999", "is longer than a number can be (line 2"]),
    "a number longer than the largest": (f"kind: Pod\nspec: {'9' * 311}\n", ["is longer than a number can be (line 2"]),
    "a number in sixties": (f"kind: Pod\nspec: 1{':59' * 3000}\n", ["is longer than a number can be (line 2"]),
    "too deep": ("a: " + "[" * 80 + "]" * 80, ["nested deeper"]),
    "deeper than can be read at all": ("a: " + "[" * 20_000 + "]" * 20_000, ["nested deeper than 60 levels"]),
    "too large": ("a" * (MAX_BYTES + 1), ["larger than"]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_manifest_is_one_error_with_its_place(case: str) -> None:
    text, said = CASES[case]
    message = refused(text)
    assert message.startswith("manifest: ")
    assert all(part in message for part in said), message


def test_the_caret_stands_under_the_mistake() -> None:
    lines = refused(CLAIM.replace("device.driver", "device.drivr")).split("\n")
    assert lines[-1].index("^") == lines[-2].index(".drivr")


def test_v1beta1_has_the_request_without_exactly() -> None:
    text = CLAIM.replace("/v1\n", "/v1beta1\n").replace("      exactly:\n", "").replace("        ", "      ")
    assert read_manifest(text, "default", NEWEST)


@pytest.mark.parametrize("text", ["=", "<<", "2026-11-29"])
def test_text_that_yaml_has_a_type_for_stays_text(text: str) -> None:
    (item,) = yaml_items(f"kind: Pod\nargs: [{text}]\nkey: {text}\n", "manifest")
    assert (item.item["args"], item.item["key"]) == ([text], text)


def test_the_largest_number_that_there_is_is_read() -> None:
    (item,) = yaml_items(f"kind: Pod\nat: -{int(sys.float_info.max)}\n", "manifest")
    assert float(item.item["at"]) == -sys.float_info.max


@pytest.mark.parametrize("case", TAKEN)
def test_what_the_api_server_takes_is_read(case: str) -> None:
    (document,) = read_manifest(json.dumps(TAKEN[case], indent=1), "default", NEWEST)
    assert document.object.ref.kind == TAKEN[case]["kind"]


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_api_server_refuses_is_one_error_that_says_where_and_what_would_be_right(case: str) -> None:
    item, said = REFUSED[case]
    message = refused(json.dumps(item, indent=1))
    assert message.startswith("manifest: ")
    assert "(document 1, line " in message
    assert "\n" not in message
    assert all(part in message for part in said), message


def test_the_error_names_the_line_of_the_value() -> None:
    text = json.dumps(changed(WHOLE, {"spec.devices.requests.0.exactly.count": -4}), indent=1)
    line = next(number for number, line in enumerate(text.splitlines(), start=1) if "-4" in line)
    assert f"(document 1, line {line})" in refused(text)


def test_v1beta1_is_held_to_the_same_rules_without_exactly() -> None:
    text = CLAIM.replace("/v1\n", "/v1beta1\n").replace("      exactly:\n", "").replace("        ", "      ")
    assert "spec.devices.requests[0].count: is -1" in refused(text.replace("    - name: gpu\n", "    - name: gpu\n      count: -1\n"))
    both = text.replace("    - name: gpu\n", "    - name: gpu\n      firstAvailable: [{name: a, deviceClassName: b}]\n")
    assert "has both deviceClassName" in refused(both)


def test_one_object_twice_is_an_error_and_objects_without_a_name_are_not_one_object() -> None:
    assert "ResourceClaim default/c stands there twice (first in document 1)" in refused(f"{CLAIM}---\n{CLAIM}")
    nameless = CLAIM.replace("metadata: {name: c}\n", "")
    assert len(read_manifest(f"{nameless}---\n{nameless}", "default", NEWEST)) == 2
    generated = changed(WHOLE, {"metadata": {"generateName": "c-"}})
    listed = {"apiVersion": "v1", "kind": "List", "items": [generated, generated, changed(WHOLE, {"metadata": {}})]}
    assert len({entry.object.key for entry in read_manifest(json.dumps(listed), "default", NEWEST)}) == 3


def test_a_namespace_that_can_be_none_is_an_error() -> None:
    assert 'metadata.namespace: "Ünï" is no name' in refused(CLAIM.replace("{name: c}", "{name: c, namespace: Ünï}"))
    with pytest.raises(ManifestError, match=r"^namespace: "):
        read_manifest(CLAIM, "Ünï", NEWEST)


def test_a_kind_of_another_case_or_group_is_named_as_it_is_right() -> None:
    assert "did you mean resource.k8s.io/v1 ResourceClaim?" in refused(CLAIM.replace("kind: ResourceClaim", "kind: resourceclaim"))
    assert "did you mean apps/v1 Deployment?" in refused("apiVersion: v1\nkind: Deployment\n")


def test_an_operator_may_fill_in_what_a_custom_kind_leaves_out_but_no_negative_amount() -> None:
    pods = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}], "extra": 1}
    job = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": pods}}}}}
    assert read_manifest(json.dumps(job), "default", NEWEST)
    pods["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = -1
    where = "spec.pytorchReplicaSpecs.Worker.template.spec.containers[0].resources.limits[nvidia.com/gpu]"
    assert where in refused(json.dumps(job))


def test_a_pod_without_a_namespace_of_its_own_goes_to_the_one_asked_about() -> None:
    (document,) = read_manifest(json.dumps(POD), "team", NEWEST)
    assert document.object.namespace == "team"


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_with_one_error(text: str) -> None:
    with contextlib.suppress(ManifestError):
        read_manifest(text, "default", NEWEST)


@given(st.integers(0, len(CLAIM)), st.text(max_size=6), st.integers(0, 12))
def test_a_damaged_claim_is_read_or_refused_with_one_error(place: int, inserted: str, removed: int) -> None:
    with contextlib.suppress(ManifestError):
        read_manifest(CLAIM[:place] + inserted + CLAIM[place + removed :], "default", NEWEST)
