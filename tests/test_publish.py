"""The tables of experiments in the documentation are those of the results beside it."""

import json
import shutil

import pytest

from experiments.publish import BLOCK, BLOCKS, DOCS, FILES, PAGES, publish, with_blocks
from experiments.results import read_results


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("page", PAGES)
def test_documents_have_what_the_results_say(page, name):
    """If this fails: `python -m experiments publish` with the folder of the runs."""
    results, text = (DOCS / "results" / f"{name}.json"), (DOCS / page).read_text("utf-8")
    assert with_blocks(text, read_results(results)) == text


def test_other_results_are_not_published(tmp_path):
    shutil.copy(DOCS / "results" / "peers.json", tmp_path / "peers.json")
    with pytest.raises(ValueError, match=r"none of results\.json, relatives\.json"):
        publish(tmp_path, tmp_path)


def test_every_block_stands_in_one_place():
    names = [m[2] for page in PAGES for m in BLOCK.finditer((DOCS / page).read_text("utf-8"))]
    assert sorted(names) == sorted(name for blocks in BLOCKS.values() for name in blocks)


def test_what_is_published_follows_the_results(tmp_path):
    """Of another result only what stands between the marks changes."""
    docs, folder = tmp_path / "docs", tmp_path / "runs"
    (docs / "results").mkdir(parents=True)
    folder.mkdir()
    for page in PAGES:
        shutil.copy(DOCS / page, docs / page)
    content = json.loads((DOCS / "results" / "results.json").read_text("utf-8"))
    for row in content["summary"]["rows"]:
        if row[:4] == ["shuttle", "batched", "fixed_budget", 30_000]:
            row[content["summary"]["columns"].index("mean")] = 5.4321
    (folder / "results.json").write_text(json.dumps(content), "utf-8")
    written = publish(folder, docs)
    assert {path.name for path in written} == {"results.json", "results.html", "README.md"}
    for page in PAGES:
        now, before = (place / page for place in (docs, DOCS))
        assert "5.43 ± " in now.read_text("utf-8")
        assert BLOCK.sub("", now.read_text("utf-8")) == BLOCK.sub("", before.read_text("utf-8"))
