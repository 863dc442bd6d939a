"""Large pictures: a bound that can be changed, and memory that does not grow with how many there are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np
import pytest

if os.environ.get("CI") != "true":
    pytest.importorskip("PIL")

from PIL import Image

from samekind.data import load
from samekind.data.pictures import PixelBudget, open_picture
from samekind.errors import DataError

WIDTH, HEIGHT = 6000, 4000  # 24 million pixels
DECODED = 4 * WIDTH * HEIGHT  # bytes of a colour picture in Pillow
MEASURE = """
import re, sys
from concurrent.futures import ThreadPoolExecutor
from samekind.data import load

def peak():  # of this program: getrusage has that of the one which started it, too
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])

small, large, task = sys.argv[1:]
load(small).picture(0)  # whatever any picture needs
before = peak()
items = load(large)
if task != "load":
    with ThreadPoolExecutor(8) as pool:
        sent = list(pool.map(lambda row: items.picture(row, task), range(items.n)))
    assert len({picture.body for picture in sent}) == 1
print(peak() - before)
"""


def draw(path, width=60, height=40, **options):
    """Write a picture with a gradient in it."""
    ramp = np.linspace(0, 255, width).astype(np.uint8)
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    pixels[...] = ramp[None, :, None]
    Image.fromarray(pixels).save(path, **options)


@pytest.fixture
def folder(tmp_path):
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    for k in range(3):
        draw(pictures / f"{k}.png")
    return pictures


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the most memory used is read from /proc")
@pytest.mark.parametrize("task", ["load", "small", "large"])
@pytest.mark.parametrize(
    ("suffix", "options", "most"),
    [
        (".png", {"compress_level": 1}, 4),
        (".tif", {}, 4),
        (".webp", {"quality": 50, "method": 0}, 6),
        (".jpg", {}, 4),
        (".jpg", {"progressive": True}, 6),  # whose coefficients are all kept, whatever the size
    ],
    ids=["png", "tiff", "webp", "jpeg", "progressive jpeg"],
)
def test_memory_does_not_grow_with_how_many_there_are(
    tmp_path, folder, suffix, options, most, task
):
    """Eight pictures by as many threads take as much as a few decoded ones; measured in a process."""
    large = tmp_path / "large"
    large.mkdir()
    draw(large / f"0{suffix}", WIDTH, HEIGHT, **options)
    for k in range(1, 8):
        os.link(large / f"0{suffix}", large / f"{k}{suffix}")
    command = [sys.executable, "-c", MEASURE, folder, large, task]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < most * DECODED


class TestLimit:
    """P29: a picture is refused by the number of pixels that it declares."""

    def test_can_be_changed(self, folder, monkeypatch):
        draw(folder / "big.png", 300, 200)
        draw(folder / "bigger.png", 300, 300)
        monkeypatch.setenv("SAMEKIND_MAX_PIXELS", "50000")
        items = load(folder)
        assert items.n == 3
        words = "\n".join(items.notes)
        assert "2 pictures are left out" in words
        assert "big.png: its 300 × 200 pixels are more than 50,000" in words
        assert "bigger.png: its 300 × 300 pixels are more than 50,000" in words
        assert "set SAMEKIND_MAX_PIXELS in the environment" in words
        monkeypatch.setenv("SAMEKIND_MAX_PIXELS", "90000")
        assert load(folder).n == 5

    def test_can_exceed_pillows_own(self, folder, monkeypatch):
        monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 20_000)
        draw(folder / "big.png", 300, 200)
        monkeypatch.setenv("SAMEKIND_MAX_PIXELS", "60000")
        assert load(folder).n == 4

    def test_what_is_left_out_of_a_long_list_is_counted(self, folder, monkeypatch):
        for k in range(20):
            draw(folder / f"big {k}.png", 300, 200)
        monkeypatch.setenv("SAMEKIND_MAX_PIXELS", "50000")
        items = load(folder)
        assert (items.n, len(items.left_out)) == (3, 20)
        [note] = [note for note in items.notes if "left out" in note]
        assert re.search(r"(?s)20 pictures.*big 9\.png.*… and 10 more", note)

    @pytest.mark.parametrize("given", ["many", "0", "-5", "1.5"])
    def test_must_be_a_number(self, folder, monkeypatch, given):
        monkeypatch.setenv("SAMEKIND_MAX_PIXELS", given)
        with pytest.raises(DataError, match="SAMEKIND_MAX_PIXELS must be a positive number"):
            load(folder)


class TestBudget:
    def test_what_has_room_goes_together_and_a_large_one_alone(self):
        budget, lock, now, seen = PixelBudget(10), threading.Lock(), [], []

        def decode(pixels):
            with lock:
                now.append(pixels)
                seen.append(list(now))
            time.sleep(0.002)
            with lock:
                now.remove(pixels)

        sizes = [3, 100, 4, 10, 2, 5, 50, 1] * 5
        threads = [
            threading.Thread(target=budget.run, args=(size, partial(decode, size)))
            for size in sizes
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert len(seen) == len(sizes)
        assert all(sum(held) <= 10 or len(held) == 1 for held in seen)
        assert any(len(held) > 1 for held in seen)

    def test_is_given_back_when_decoding_fails(self):
        budget = PixelBudget(10)

        def fail():
            raise ValueError("broken")

        for pixels in (10, 100, 10**7, 10):
            with pytest.raises(ValueError, match="broken"):
                budget.run(pixels, fail)
        assert budget.run(10**7, lambda: "whole") == "whole"


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "P", "1", "I;16", "F"])
def test_a_reduced_picture_shows_the_same(tmp_path, mode):
    """What the page gets is what a small copy of the whole picture looks like."""
    coarse = np.random.default_rng(0).integers(0, 256, (6, 8, 4), dtype=np.uint8)
    whole = coarse.repeat(120, axis=0).repeat(120, axis=1)
    if mode in ("I;16", "F"):
        one = Image.fromarray(whole[:, :, 0].astype(np.uint16 if mode == "I;16" else np.float32))
    else:
        one = Image.fromarray(whole).convert(mode)
    one.save(tmp_path / "one.tif")
    fitted, _ = open_picture(tmp_path / "one.tif", 64)
    assert fitted.size == (64, 48)
    exact, _ = open_picture(tmp_path / "one.tif", 64, kept_below=10**9)
    assert exact.size == one.size
    same = exact.resize(fitted.size, Image.Resampling.LANCZOS)
    apart = np.abs(np.asarray(fitted, dtype=int) - np.asarray(same, dtype=int))
    assert np.mean(apart) < 4
