"""Small drawings of fifteen shapes in any colour, size and place, to be sorted by their shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

__all__ = ["SHAPES", "write_drawings"]

Corners = list[tuple[float, float]]
SIZE = 64
NOISE = 12.0


def _star(tips: int, turn: float = 0.0, inner: float = 1.0) -> Corners:
    """Return the corners of a polygon, or of a star if every second one is nearer to the centre."""
    angles = 2 * np.pi * np.arange(tips) / tips + turn
    radii = np.where(np.arange(tips) % 2, inner, 1.0)
    return list(
        zip((radii * np.sin(angles)).tolist(), (-radii * np.cos(angles)).tolist(), strict=True)
    )


def _box(left: float, top: float, right: float, bottom: float) -> Corners:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


ARROW: Corners = [(-1, -0.3), (0.2, -0.3), (0.2, -0.8), (1, 0), (0.2, 0.8), (0.2, 0.3), (-1, 0.3)]
BAR = _box(-0.95, -0.14, 0.95, 0.14)
POLYGONS: dict[str, list[Corners]] = {
    "square": [_box(-0.8, -0.8, 0.8, 0.8)],
    "triangle up": [_star(3)],
    "triangle down": [_star(3, np.pi)],
    "star": [_star(10, inner=0.42)],
    "plus": [_box(-0.9, -0.22, 0.9, 0.22), _box(-0.22, -0.9, 0.22, 0.9)],
    "cross": [[((x - s * y) / 2**0.5, (s * x + y) / 2**0.5) for x, y in BAR] for s in (1, -1)],
    "arrow right": [ARROW],
    "arrow left": [[(-x, y) for x, y in ARROW]],
    "two bars": [_box(-1, -0.8, -0.3, 0.8), _box(0.3, -0.8, 1, 0.8)],
}
OVALS = {"disc": (1.0, 1.0), "wide oval": (1.0, 0.45), "tall oval": (0.45, 1.0)}
SHAPES = (*POLYGONS, *OVALS, "ring", "frame", "moon")


def _draw(shape: str, rng: np.random.Generator) -> Image.Image:
    """Return a drawing of a shape."""
    side = 4 * SIZE
    paper, ink = (tuple(rng.integers(*limits, 3).tolist()) for limits in ((200, 256), (0, 140)))
    image = Image.new("RGB", (side, side), paper)
    draw, centre, radius = ImageDraw.Draw(image), side / 2, SIZE * rng.uniform(1.0, 1.5)

    def at(*numbers: float) -> list[float]:
        return [centre + radius * number for number in numbers]

    for corners in POLYGONS.get(shape, []):
        draw.polygon([(centre + radius * x, centre + radius * y) for x, y in corners], fill=ink)
    if shape in OVALS:
        wide, tall = OVALS[shape]
        draw.ellipse(at(-wide, -tall, wide, tall), fill=ink)
    elif shape == "ring":
        draw.ellipse(at(-1, -1, 1, 1), outline=ink, width=int(radius / 4))
    elif shape == "frame":
        draw.rectangle(at(-0.8, -0.8, 0.8, 0.8), outline=ink, width=int(radius / 4))
    elif shape == "moon":
        draw.ellipse(at(-1, -1, 1, 1), fill=ink)
        draw.ellipse(at(-0.55, -0.95, 1.35, 0.95), fill=paper)
    moved = tuple(rng.integers(-SIZE // 3, SIZE // 3 + 1, 2).tolist())
    turned = image.rotate(rng.uniform(-15, 15), fillcolor=paper, translate=moved)
    small = turned.resize((SIZE, SIZE), Image.Resampling.LANCZOS)
    pixels = np.asarray(small).astype(float) + rng.normal(0, NOISE, (SIZE, SIZE, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def write_drawings(folder: Path, n: int, random_state: int) -> list[str]:
    """Write n drawings, some shapes more often than others; return the shape of each, in their order."""
    rng = np.random.default_rng(random_state)
    shares = rng.dirichlet(np.full(len(SHAPES), 3.0))
    more = rng.choice(len(SHAPES), n - len(SHAPES), p=shares)
    shapes = [SHAPES[k] for k in rng.permutation(np.concatenate([np.arange(len(SHAPES)), more]))]
    folder.mkdir(parents=True, exist_ok=True)
    for number, shape in enumerate(shapes):
        _draw(shape, rng).save(folder / f"{number:04d}.png")
    return shapes
