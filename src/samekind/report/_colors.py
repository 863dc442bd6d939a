"""A colour and a marker for every cluster, the same in every plot and in every run."""

from __future__ import annotations

__all__ = ["color_of", "symbol_of"]

# Each colour is the farthest from those before it, also to an eye that is blind to red or green, among
# those that stand out from a white and from a near-black page.
# fmt: off
COLORS = (
    "#3771d1", "#fe6a00", "#2eb27a", "#b82989", "#876114", "#c780f7", "#9d7995",
    "#098356", "#4ea4ca", "#de394b", "#ac984b", "#e87da9", "#8256af", "#8472fe",
    "#6c9173", "#357090", "#ba5db3", "#bb6802", "#7087d5", "#aa5478",
)
# fmt: on
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "triangle-down", "star", "hexagon")
NO_CLUSTER = "#8b9098"


def color_of(cluster: int) -> str:
    """Return the colour of a cluster; grey for -1, no cluster."""
    return COLORS[cluster % len(COLORS)] if cluster >= 0 else NO_CLUSTER


def symbol_of(cluster: int) -> str:
    """Return the marker of a cluster: another one each time that the colours begin again."""
    if cluster < 0:
        return "circle-open"
    return SYMBOLS[cluster // len(COLORS) % len(SYMBOLS)]
