"""Why the API server refuses to make a pod or a claim, where its text is of one kind; the rest is passed on from where it says why."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.layers.refusals import refused
from k8s_topo_mcp.objects import ObjectRef
from k8s_topo_mcp.view import ClusterView

POD = ObjectRef("Pod", "tools", "exporter")
ADMIN = (
    "(combined from similar events): PodResourceClaim devices: create ResourceClaim : ResourceClaim.resource.k8s.io "
    '"exporter-devices-x7k2p" is invalid: spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the '
    "`resource.kubernetes.io/admin-access: true` label on the containing namespace"
)


def test_admin_access_is_refused_by_a_label_of_the_namespace() -> None:
    held = refused(ClusterView([]), "ResourceClaim", POD, ADMIN)
    assert held.finding.code == "CREATION_REFUSED"
    assert held.finding.object == ObjectRef("Namespace", "", "tools")
    assert held.finding.text("message").startswith("admin access to devices requires the `resource.kubernetes.io/admin-access: true` label")
    assert "label namespace tools with resource.kubernetes.io/admin-access=true" in held.helps[0].text


def test_any_other_refusal_is_told_from_where_it_says_why() -> None:
    other = 'create ResourceClaim : ResourceClaim.resource.k8s.io "a-b" is invalid: spec.devices.requests[0].name: Required value'
    assert refused(ClusterView([]), "ResourceClaim", POD, other).finding.text("message") == "spec.devices.requests[0].name: Required value"
    assert refused(ClusterView([]), "pod", POD, "no such thing").finding.text("message") == "no such thing"


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ('pods "web-1" is forbidden: ', 'unable to create: node selector label conflict: "zone" is invalid: must be one of a,b'),
        (
            'Pod "web-1" is invalid: ',
            '[spec.x: Required value, spec.volumes[0].name: Invalid value: "y": name is forbidden: reserved]',
        ),
        (
            'create ResourceClaim : ResourceClaim.resource.k8s.io "a" is invalid: ',
            "spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: \"device.x == 'what is invalid: this'\": "
            "compilation failed",
        ),
    ],
)
def test_a_reason_that_itself_speaks_of_what_is_invalid_is_told_whole(before: str, why: str) -> None:
    assert refused(ClusterView([]), "pod", POD, before + why).finding.text("message") == why
