"""Many templates and many pods at once say what each pair says by itself."""

from __future__ import annotations

from k8s_topo_mcp.scaleup.new_nodes import with_nodes
from k8s_topo_mcp.scaleup.on_new_nodes import on_new_node
from k8s_topo_mcp.scaleup.survey import content, survey

from ..diagnosis.clusters import claim, cluster, device_class, gpus, held, node, pod, pool, request
from .templates import plain, pods, template

HOST = "kubernetes.io/hostname"


def test_the_survey_says_what_each_pair_says() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    items = [
        device_class(),
        node("n1", labels={"zone": "a"}),
        pool(gpus(2), "n1"),
        held("h", ["gpu-0"]),
        pod("runs", on="n1", metadata={"labels": {"app": "x"}}),
        plain("a", "1"),
        plain("b", "12"),
        plain("far", "1", affinity=apart),
        plain("tier", "1", nodeSelector={"tier": "gold"}),
        claim("c", request(count=3)),
        pod("gpus", ("c",)),
    ]
    view = cluster(*items)
    templates = [
        template(),
        template(4, name="gpus"),
        template(2, name="few", labels={"zone": "a"}),
        template(name="large", allocatable={"cpu": "16"}, labels={"tier": "gold"}),
        template(name="none", devices_known=False, unpredictable=frozenset({"tier"})),
    ]
    waiting = pods(view)
    for found, kind in zip(survey(view, waiting, templates), templates, strict=True):
        assert found.template is kind
        new = with_nodes(view, ((kind, 1),))
        for own, on in zip(found.kinds, found.verdicts, strict=True):
            for waits in own.pods:
                alone = on_new_node(new.view, waits, kind, new.of(0)[0])
                assert (waits.name, on.verdict, on.why) == (waits.name, alone.verdict, alone.why)


def test_templates_that_say_the_same_are_judged_once() -> None:
    view = cluster(device_class(), plain("a", "1"))
    first, second = template(2), template(2, name="other")
    assert content(first) == content(second)
    assert content(first) != content(template(3))
    assert content(first) != content(template(2, labels={"zone": "a"}))
    assert content(first) != content(template(2, amounts_unknown=frozenset({"cpu"})))
    daemons = [template(0, pod("d", on="t", metadata={"labels": {"app": app}})) for app in ("x", "y")]
    assert content(daemons[0]) != content(daemons[1])
    one, other = survey(view, pods(view), [first, second])
    assert other.template is second
    assert one.verdicts is other.verdicts


def test_sums_say_how_many_nodes_it_takes_at_least() -> None:
    view = cluster(device_class(), *(plain(f"a-{number}", "3") for number in range(9)))
    (found,) = survey(view, pods(view), [template()])
    assert len(found.kinds) == 1
    assert len(found.pods("fits")) == 9
    assert found.at_least == 4
