"""Who holds devices, as a row of the structured answer, and in words."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.report import Holder
from k8s_topo_mcp.rendering import age, clean, fold, plural
from k8s_topo_mcp.tools.models import Holder as HolderPart


def part(holder: Holder, now: float) -> HolderPart:
    """The row of a holder. Pods that have ended are left out where something else keeps the claim."""
    about = holder.about
    pods = () if holder.others and not holder.living else holder.pods[:2]
    return HolderPart(
        claim=clean(f"{about.namespace}/{about.name}", 160) if about.kind != "Pod" else None,
        pods=tuple(clean(name, 120) for name in pods),
        reserved_for=tuple(clean(name, 160) for name in holder.others[:2]),
        devices=holder.devices,
        since=None if holder.since is None else age(now - holder.since),
        alive=holder.alive,
    )


def words(holder: HolderPart) -> str:
    """The row in words."""
    if holder.claim is None:
        told = [*([plural(holder.devices, "device")] if holder.devices else []), *([f"since {holder.since}"] if holder.since else [])]
        return f"pod {fold(holder.pods)}" + (f" ({', '.join(told)})" if told else "")
    pods = f", pod {fold(holder.pods)}" if holder.pods else ""
    if holder.reserved_for:
        pods += f", reserved for {fold(holder.reserved_for)}, which {'is' if len(holder.reserved_for) == 1 else 'are'} no pod"
    alive = "" if holder.alive else ", no pod of it lives"
    since = f", since {holder.since}" if holder.since else ""
    return f"claim {holder.claim} ({plural(holder.devices or 0, 'device')}{pods}{since}{alive})"
