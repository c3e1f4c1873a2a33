"""Which resources the server serves: those of a real kube-apiserver, and what else the snapshot has.

A resource is served in the versions in which the snapshot has objects of it, and nothing is converted: each version serves the objects that
were recorded in it. Without any object it is served empty, in the version that the release serves by default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from k8s_topo_mcp.releases.evidence import SINCE

_BUILT_IN = """
v1 configmaps ConfigMap yes cm -
v1 endpoints Endpoints yes ep -
v1 events Event yes ev -
v1 limitranges LimitRange yes limits -
v1 namespaces Namespace no ns -
v1 nodes Node no no -
v1 persistentvolumeclaims PersistentVolumeClaim yes pvc -
v1 persistentvolumes PersistentVolume no pv -
v1 pods Pod yes po all
v1 podtemplates PodTemplate yes - -
v1 replicationcontrollers ReplicationController yes rc all
v1 resourcequotas ResourceQuota yes quota -
v1 secrets Secret yes - -
v1 serviceaccounts ServiceAccount yes sa -
v1 services Service yes svc all
apiregistration.k8s.io/v1 apiservices APIService no - api-extensions
apps/v1 controllerrevisions ControllerRevision yes - -
apps/v1 daemonsets DaemonSet yes ds all
apps/v1 deployments Deployment yes deploy all
apps/v1 replicasets ReplicaSet yes rs all
apps/v1 statefulsets StatefulSet yes sts all
events.k8s.io/v1 events Event yes ev -
autoscaling/v2 horizontalpodautoscalers HorizontalPodAutoscaler yes hpa all
autoscaling/v1 horizontalpodautoscalers HorizontalPodAutoscaler yes hpa all
batch/v1 cronjobs CronJob yes cj all
batch/v1 jobs Job yes - all
certificates.k8s.io/v1 certificatesigningrequests CertificateSigningRequest no csr -
networking.k8s.io/v1 ingressclasses IngressClass no - -
networking.k8s.io/v1 ingresses Ingress yes ing -
networking.k8s.io/v1 ipaddresses IPAddress no ip -
networking.k8s.io/v1 networkpolicies NetworkPolicy yes netpol -
networking.k8s.io/v1 servicecidrs ServiceCIDR no - -
policy/v1 poddisruptionbudgets PodDisruptionBudget yes pdb -
rbac.authorization.k8s.io/v1 clusterrolebindings ClusterRoleBinding no - -
rbac.authorization.k8s.io/v1 clusterroles ClusterRole no - -
rbac.authorization.k8s.io/v1 rolebindings RoleBinding yes - -
rbac.authorization.k8s.io/v1 roles Role yes - -
storage.k8s.io/v1 csidrivers CSIDriver no - -
storage.k8s.io/v1 csinodes CSINode no - -
storage.k8s.io/v1 csistoragecapacities CSIStorageCapacity yes - -
storage.k8s.io/v1 storageclasses StorageClass no sc -
storage.k8s.io/v1 volumeattachments VolumeAttachment no - -
storage.k8s.io/v1 volumeattributesclasses VolumeAttributesClass no vac -
admissionregistration.k8s.io/v1 mutatingwebhookconfigurations MutatingWebhookConfiguration no - api-extensions
admissionregistration.k8s.io/v1 validatingadmissionpolicies ValidatingAdmissionPolicy no - api-extensions
admissionregistration.k8s.io/v1 validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding no - api-extensions
admissionregistration.k8s.io/v1 validatingwebhookconfigurations ValidatingWebhookConfiguration no - api-extensions
apiextensions.k8s.io/v1 customresourcedefinitions CustomResourceDefinition no crd,crds api-extensions
scheduling.k8s.io/v1 priorityclasses PriorityClass no pc -
coordination.k8s.io/v1 leases Lease yes - -
node.k8s.io/v1 runtimeclasses RuntimeClass no - -
discovery.k8s.io/v1 endpointslices EndpointSlice yes - -
resource.k8s.io/v1 deviceclasses DeviceClass no - -
resource.k8s.io/v1 devicetaintrules DeviceTaintRule no - -
resource.k8s.io/v1 resourceclaims ResourceClaim yes - -
resource.k8s.io/v1 resourceclaimtemplates ResourceClaimTemplate yes - -
resource.k8s.io/v1 resourceslices ResourceSlice no - -
flowcontrol.apiserver.k8s.io/v1 flowschemas FlowSchema no - -
flowcontrol.apiserver.k8s.io/v1 prioritylevelconfigurations PriorityLevelConfiguration no - -
"""
"""apiVersion, plural, kind, namespaced, short names, categories: what kube-apiserver v1.37.2 says in its discovery of resources that can be
got, listed and watched, without those that came into being after 1.34 (but for those in `releases.evidence.SINCE`)."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource in one version. `custom` ones say their kind in every item of a list, as those of a CustomResourceDefinition do."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    custom: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def name(self) -> str:
        """As in messages: pods, daemonsets.apps."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _built_in() -> Iterable[Resource]:
    for row in _BUILT_IN.split("\n"):
        if row:
            api_version, plural, kind, namespaced, short, categories = row.split(" ")
            group, _, version = api_version.rpartition("/")
            yield Resource(group, version, plural, kind, namespaced == "yes", _words(short), _words(categories))


def _words(text: str) -> tuple[str, ...]:
    return () if text == "-" else tuple(text.split(","))


_SERVED = tuple(_built_in())
BUILT_IN: dict[tuple[str, str], Resource] = {(known.group, known.kind): known for known in _SERVED}
"""By group and kind."""

_NOT_CUSTOM = (".k8s.io",)


def served_by(minor: int) -> Iterable[Resource]:
    """What a kube-apiserver of 1.`minor` serves without flags."""
    for known in _SERVED:
        if SINCE.get((known.group, known.version, known.kind), 0) <= minor:
            yield known


def resource_for(api_version: str, kind: str, namespaced: bool) -> Resource:
    """The resource of an object. `namespaced` counts where the kind is not a known one."""
    group, _, version = api_version.rpartition("/")
    known = BUILT_IN.get((group, kind))
    if known is not None:
        return Resource(group, version, known.plural, kind, known.namespaced, known.short_names, known.categories)
    own = group.endswith(_NOT_CUSTOM) or "." not in group
    return Resource(group, version, plural_of(kind), kind, namespaced, custom=not own)


def plural_of(kind: str) -> str:
    """As `meta.UnsafeGuessKindToResource` in apimachinery's pkg/api/meta/restmapper.go makes it."""
    word = kind.lower()
    if word.endswith("endpoints"):
        return word
    if word.endswith("s"):
        return word + "es"
    if word.endswith("y"):
        return word[:-1] + "ies"
    return word + "s"
