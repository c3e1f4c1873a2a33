"""From values to text: budget, folding, ages, cleaning of foreign text, blocks of labelled lines. Knows no cluster."""

from k8s_topo_mcp.rendering.ages import age, ago, moment
from k8s_topo_mcp.rendering.blocks import Block
from k8s_topo_mcp.rendering.budget import ANSWER, tokens, within
from k8s_topo_mcp.rendering.folding import fold, fold_names, plural, ranges
from k8s_topo_mcp.rendering.foreign import clean, quoted, visible
from k8s_topo_mcp.rendering.quantities import binary, readable

__all__ = [
    "ANSWER", "Block", "age", "ago", "binary", "clean", "fold", "fold_names", "moment", "plural", "quoted", "ranges", "readable", "tokens",
    "visible", "within",
]  # fmt: skip
