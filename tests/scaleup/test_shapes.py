"""Any machine of the catalogue as a node that doesn't exist yet: what is known of it, and nothing made up for what isn't."""

from __future__ import annotations

import json

import pytest

from k8s_topo_mcp.objects import Node, ResourceSlice
from k8s_topo_mcp.scaleup.drivers import Open
from k8s_topo_mcp.scaleup.shapes import UnknownShape, catalogue, names, partitions, shape
from k8s_topo_mcp.scaleup.template import added
from k8s_topo_mcp.view import ClusterView
from tests.golden import Golden
from tests.scaleup.showing import shown

DIVISIBLE = [name for name in names() if partitions(catalogue()["shapes"][name]["product"]) is not None]


def view_with(*edits: object) -> ClusterView:
    return ClusterView().with_edits(*edits)  # type: ignore[arg-type]


def test_the_catalogue_has_85_shapes() -> None:
    assert len(names()) == 85
    assert len(set(names())) == 85


@pytest.mark.parametrize("name", names())
def test_a_node_of_any_shape_can_be_added_twice_and_publishes_its_accelerators(name: str) -> None:
    template = shape(name)
    known = catalogue()["shapes"][name]
    view = view_with(*added(template, ["a-1", "a-2"]))
    assert [node.name for node in view.all(Node)] == ["a-1", "a-2"]
    accelerators = [
        device
        for entry in view.all(ResourceSlice)
        if entry.driver not in ("dra.net", "compute-domain.nvidia.com")
        for device in entry.devices
    ]
    assert template.devices_known is (known["gpus"] is not None)
    assert len(accelerators) == 2 * len(known["gpus"] or ())
    for entry in view.all(ResourceSlice):
        assert entry.pool in ("a-1", "a-2")
        assert entry.node_selection.node_name == entry.pool
        assert entry.name.startswith(f"{entry.pool}-")
        assert len(entry.devices) <= 128
        assert len({device.name for device in entry.devices}) == len(entry.devices)
        assert all(binding.devices <= {device.name for device in entry.devices} for binding in entry.bindings)


@pytest.mark.parametrize("name", names())
def test_every_part_of_it_says_where_it_is_from_and_nothing_is_made_up(name: str) -> None:
    template = shape(name)
    assert all(name in fact.source or "default" in fact.source or catalogue_product(name) in fact.source for fact in template.facts)
    assert {fact.confidence for fact in template.facts} <= {"catalogue", "assumed"}
    drivers = {entry.driver for entry in template.slices}
    assert {f"devices of {driver}" for driver in drivers} <= {fact.part for fact in template.facts}
    text = json.dumps([[(device.name, str(dict(device.attributes))) for device in entry.devices] for entry in template.slices])
    for made_up in ("580.126.20", "GPU-", "6.12.12", "2.23.9.0", "group-"):
        assert made_up not in text
    assert not any(value.startswith("<") for value in template.node.metadata.labels.values())


def catalogue_product(name: str) -> str:
    product = catalogue()["shapes"][name]["product"]
    return str(catalogue()["products"][product].get("productName", product))


def test_machines_with_grace_processors_are_arm64() -> None:
    grace = [name for name in names() if catalogue()["shapes"][name]["product"] in ("NVIDIA GB200", "NVIDIA GB300")]
    assert len(grace) > 4
    assert {shape(name).node.architecture for name in grace} == {"arm64"}


@pytest.mark.parametrize("name", names())
def test_labels_whose_value_a_cloud_chooses_are_unpredictable_and_absent(name: str) -> None:
    template = shape(name)
    known = catalogue()["shapes"][name]
    assert {"topology.kubernetes.io/zone", "kubernetes.io/hostname", *known["domainLabels"]} <= template.unpredictable
    assert (template.unpredictable & template.node.metadata.labels.keys()) == {"kubernetes.io/hostname"}


def test_devices_of_one_group_are_bound_across_drivers_where_the_root_is_not_known() -> None:
    gpus, nics = shape("a3-megagpu-8g").slices
    roots = "resource.kubernetes.io/pcieRoot"
    by_name = {binding.name: binding.devices for binding in gpus.bindings if binding.attribute == roots}
    assert by_name["root of g0"] == {"gpu-0"}
    assert {binding.name: binding.devices for binding in nics.bindings if binding.attribute == roots}["root of g0"] == {"eth1"}
    assert not any(roots in device.attributes for device in gpus.devices)


def test_a_root_that_was_seen_is_a_value_and_an_address_of_every_card_its_own() -> None:
    (gpus, _) = shape("p5.48xlarge").slices
    assert gpus.devices[0].attributes["resource.kubernetes.io/pcieRoot"].value == "pci0000:44"
    assert {binding.attribute for binding in gpus.bindings} == {"uuid", "driverVersion", "cudaDriverVersion"}
    assert sum(binding.attribute == "uuid" and binding.distinct for binding in gpus.bindings) == 8


def test_virtual_functions_of_azure_have_no_root_at_all() -> None:
    nics = next(entry for entry in shape("Standard_ND96isr_H100_v5").slices if entry.driver == "dra.net")
    assert not any(binding.attribute.endswith("pcieRoot") for binding in nics.bindings)
    assert not any("resource.kubernetes.io/pcieRoot" in device.attributes for device in nics.devices)


def test_a_machine_that_reports_no_numa_nodes_is_not_one_of_which_they_are_not_known() -> None:
    numa = "resource.kubernetes.io/numaNode"
    none = shape("g5.48xlarge").slices[0]
    assert not any(binding.attribute == numa for binding in none.bindings)
    unknown = shape("g6e.48xlarge").slices[0]
    assert any(binding.attribute == numa for binding in unknown.bindings)


def test_an_amount_that_nobody_states_does_not_limit_and_is_said_to_be_unknown() -> None:
    template = shape("BM.GPU.H100.8")
    assert template.amounts_unknown == {"cpu", "memory"}
    assert str(template.node.allocatable["cpu"]) == "100k"
    assert [fact.confidence for fact in template.facts if fact.part == "allocatable cpu"] == ["assumed"]
    assert shape("p5.48xlarge").amounts_unknown == frozenset()


@pytest.mark.parametrize("name", DIVISIBLE)
def test_divisible_gpus_have_their_partitions_in_whole_pools(name: str) -> None:
    template = shape(name, divisible=True)
    gpus = [entry for entry in template.slices if entry.driver == "gpu.nvidia.com"]
    assert {entry.slice_count for entry in gpus} == {len(gpus)}
    assert all(len(entry.devices) <= 64 and len(entry.shared_counters) <= 8 for entry in gpus)
    sets = {own.name for entry in gpus for own in entry.shared_counters}
    assert sets == {f"{gpu['device']}-counter-set" for gpu in catalogue()["shapes"][name]["gpus"]}
    part = next(device for entry in gpus for device in entry.devices if "-mig-" in device.name)
    parents = [
        binding for entry in gpus for binding in entry.bindings if binding.attribute == "parentUUID" and part.name in binding.devices
    ]
    wholes = [binding for entry in gpus for binding in entry.bindings if binding.attribute == "uuid" and binding.devices <= {"gpu-0"}]
    assert [binding.name for binding in parents] == ["uuid of gpu-0"]
    assert [binding.name for binding in wholes] == ["uuid of gpu-0"]


def test_with_a_device_plugin_accelerators_are_a_resource_of_the_node() -> None:
    template = shape("p5.48xlarge", plugin=True)
    assert str(template.node.allocatable["nvidia.com/gpu"]) == "8"
    assert {entry.driver for entry in template.slices} == {"dra.net"}
    assert shape("inf2.48xlarge", plugin=True).devices_known
    assert not shape("inf2.48xlarge").devices_known


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("p5.48xlage", "no node shape 'p5.48xlage' among the 85 of the catalogue; nearest: p5.48xlarge, "),
        ("H100", "nearest: p5.48xlarge, p5.4xlarge, a3-highgpu-1g"),
        ("zzz", "such as p4d.24xlarge, "),
        ("", "no node shape '' among"),
    ],
)
def test_a_wrong_name_gives_one_error_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(UnknownShape) as caught:
        shape(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_product_without_a_whole_table_of_partitions_cannot_be_divided() -> None:
    with pytest.raises(UnknownShape, match=r"no complete table of MIG partitions for NVIDIA L4; leave divisible out"):
        shape("g6.12xlarge", divisible=True)


@pytest.mark.parametrize("name", ["P5.48XLARGE", " p5.48xlarge ", "dgx-h100"])
def test_letter_case_and_the_prefix_of_own_machines_do_not_matter(name: str) -> None:
    assert shape(name).name in ("p5.48xlarge", "onprem-dgx-h100")


def test_nothing_is_drawn_for_what_is_not_known() -> None:
    values = Open()
    assert values.uuid("GPU-").distinct
    assert values.place(None, "root of g0").name == "root of g0"
    assert values.place("pci0000:44", "root of g0") == "pci0000:44"


@pytest.mark.parametrize(
    "name",
    [
        "p5.48xlarge", "a3-megagpu-8g", "trn2.48xlarge", "ct6e-standard-4t", "Standard_ND96isr_MI300X_v5", "BM.GPU.GB200-v3.4",
        "onprem-dgx-h100", "inf2.48xlarge",
    ],
)  # fmt: skip
def test_a_template(golden: Golden, name: str) -> None:
    golden.check(f"shapes/{name}.txt", shown(shape(name)))
