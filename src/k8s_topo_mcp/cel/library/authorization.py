"""The authorizer's functions. Selectors have no authorizer to call them on, but the names are declared, so that a call is
"no matching overload" and not "undeclared" (apiserver/pkg/cel/library/authz.go)."""

from __future__ import annotations

from typing import Final

from k8s_topo_mcp.cel.library.declaration import Function, function, member
from k8s_topo_mcp.cel.types import BOOL, STRING, Type

_AUTHORIZER, _PATH, _GROUP, _RESOURCE, _DECISION = (
    Type("struct", f"kubernetes.authorization.{name}") for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
)

FUNCTIONS: Final[tuple[Function, ...]] = (
    function("path", member("authorizer_path", (_AUTHORIZER, STRING), _PATH)),
    function("group", member("authorizer_group", (_AUTHORIZER, STRING), _GROUP)),
    function("serviceAccount", member("authorizer_serviceaccount", (_AUTHORIZER, STRING, STRING), _AUTHORIZER)),
    function("resource", member("groupcheck_resource", (_GROUP, STRING), _RESOURCE)),
    function("subresource", member("resourcecheck_subresource", (_RESOURCE, STRING), _RESOURCE)),
    function("namespace", member("resourcecheck_namespace", (_RESOURCE, STRING), _RESOURCE)),
    function("name", member("resourcecheck_name", (_RESOURCE, STRING), _RESOURCE)),
    function(
        "check",
        member("pathcheck_check", (_PATH, STRING), _DECISION),
        member("resourcecheck_check", (_RESOURCE, STRING), _DECISION),
    ),
    function("fieldSelector", member("authorizer_fieldselector", (_RESOURCE, STRING), _RESOURCE)),
    function("labelSelector", member("authorizer_labelselector", (_RESOURCE, STRING), _RESOURCE)),
    function("allowed", member("decision_allowed", (_DECISION,), BOOL)),
    function("reason", member("decision_reason", (_DECISION,), STRING)),
    function("errored", member("decision_errored", (_DECISION,), BOOL)),
    function("error", member("decision_error", (_DECISION,), STRING)),
)
