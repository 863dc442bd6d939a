"""The report: one page, complete in itself, whatever the data."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import samekind
from browser import chromium
from samekind.datasets import load_digits
from samekind.engine import answer_with
from samekind.report import write_report
from samekind.report._map import CROWDED, choose_rows

HOSTILE = "<script>alert(1)</script>"


class Page(HTMLParser):
    """What a browser would find on the page."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.text, self.titles, self.scripts, self.data = [], [], [], [], {}
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append((tag, found))
        self.titles += [found["title"]] if "title" in found else []
        if tag == "script":
            self._open = found

    def handle_endtag(self, tag):
        if tag == "script":
            self._open = None

    def handle_data(self, data):
        if self._open is None:
            self.text.append(data)
        elif "data-figure" in self._open:
            self.data[self._open["data-figure"]] = json.loads(data)
        else:
            self.scripts.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())

    def find(self, tag, **wanted):
        return [a for t, a in self.tags if t == tag and wanted.items() <= a.items()]

    def names(self, figure):
        return [trace["name"] for trace in self.data[figure]["data"]]


def found(X, y, **options):
    """Run on labels; return the clusters and what was asked."""
    options = {"batch": "auto", "random_state": 0} | options
    with samekind.Session(X, **options) as session:
        answer_with(session, samekind.LabelOracle(y))
        clusters = session.clusters()
        active = session.ledger.active()
    pairs = np.column_stack([active["a"], active["b"]])
    return SimpleNamespace(clusters=clusters, pairs=pairs, answers=active["answer"])


def page_of(tmp_path, X, y, options=None, **more):
    result = found(X, y, **(options or {}))
    path = write_report(
        tmp_path / "report.html",
        result.clusters,
        X,
        pairs=result.pairs,
        answers=result.answers,
        **more,
    )
    text = path.read_text(encoding="utf-8")
    return result.clusters, text, Page(text)


def blobs(k, per, d, seed=0, spread=100.0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(0, spread, (k, d))
    return np.repeat(centers, per, axis=0) + rng.normal(size=(k * per, d)) * 0.1, np.repeat(
        np.arange(k), per
    )


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    data = load_digits()
    clusters, text, page = page_of(
        tmp_path_factory.mktemp("digits"),
        data.data,
        data.target,
        {"budget": 1_000},
        images=data.images,
        truth=data.target,
        title="Digits",
    )
    return SimpleNamespace(data=data, clusters=clusters, text=text, page=page)


def test_headline_says_what_the_clusters_say(digits):
    words = digits.page.words
    clusters = digits.clusters
    known = sum(map(len, clusters.members_))
    for expected in (
        f"kinds found {clusters.n_discovered_}",
        f"of them with a settled centre {clusters.n_recovered_}",
        "questions 1,000",
        f"of 1,797 rows labelled by answers {known:,}",
        "true kinds 10",
        "stopped because the budget is spent",
        "algorithm focused, seed 0",
    ):
        assert expected in words
    ari = samekind.measures.adjusted_rand_index(digits.data.target, clusters.labels_)
    assert f"adjusted Rand index of the labels {ari:.3f}" in words


def test_nothing_is_loaded_from_elsewhere(digits):
    """P31: by the report."""
    loading = ("src", "href", "srcset", "action", "data", "poster", "background")
    addresses = [a[key] for _, a in digits.page.tags for key in loading if a.get(key)]
    assert addresses
    assert all(address.startswith("data:image/png;base64,") for address in addresses)
    assert not digits.page.find("link")
    style = re.search(r"<style>(.*?)</style>", digits.text, re.S).group(1)
    assert "url(" not in style
    assert "@import" not in style
    # No button of the plots sends the data away.
    assert "modeBarButtons:" in digits.page.scripts[-1]
    assert 'plotlyServerURL: ""' in digits.page.scripts[-1]


def test_only_the_pages_own_scripts_may_run(digits):
    policy = digits.page.find("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert "default-src 'none'" in policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy))
    # Taken from the text as a browser does, not through the parser.
    bodies = re.findall(r"<script>(.*?)</script>", digits.text, re.S)
    assert {base64.b64encode(hashlib.sha256(b.encode()).digest()).decode() for b in bodies} == (
        allowed
    )
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "unsafe-eval" not in policy  # few points: no WebGL


def test_every_cluster_has_pictures_of_its_members(digits):
    pictures = digits.page.find("img")
    rows = {int(picture["alt"].split()[1]) for picture in pictures}
    members = set(np.concatenate(digits.clusters.members_).tolist())
    assert rows <= members
    assert len(pictures) >= 2 * digits.clusters.n_discovered_
    assert digits.page.words.count("Kind ") == digits.clusters.n_discovered_


def test_map_shows_rows_centres_and_questions(digits):
    names = digits.page.names("map")
    assert "centres" in names
    assert [name for name in names if name.startswith("“same”")]
    different = [t for t in digits.page.data["map"]["data"] if t["name"].startswith("“different”")]
    n_shown = sum(x is None for x in different[0]["x"])  # a gap after each line
    crowded = n_shown > CROWDED  # many would hide the map
    assert different[0]["visible"] == ("legendonly" if crowded else True)
    assert sum(name.startswith("kind ") for name in names) == digits.clusters.n_discovered_


def test_page_is_the_same_each_time(tmp_path, digits):
    _, text, _ = page_of(
        tmp_path,
        digits.data.data,
        digits.data.target,
        {"budget": 1_000},
        images=digits.data.images,
        truth=digits.data.target,
        title="Digits",
    )
    assert text == digits.text
    assert not list(tmp_path.glob("*.part"))


def test_hostile_texts_are_shown_and_not_obeyed(tmp_path):
    """P33: in the report."""
    X, y = blobs(3, 5, 2)
    frame = pd.DataFrame({HOSTILE: X[:, 0], "cell": [f'{HOSTILE}"onload="x\x1b'] * len(X)})
    truth = np.array([f"{HOSTILE}{label}" for label in y])
    names = [HOSTILE, '"><img src=x onerror=alert(1)>']
    clusters, text, page = page_of(
        tmp_path, X, y, frame=frame, truth=truth, title=HOSTILE, feature_names=names
    )
    assert clusters.n_discovered_ == 3
    assert len(page.scripts) == 2  # Plotly and the page's own
    assert not page.find("img")
    assert not [a for _, a in page.tags if any(key.startswith("on") for key in a)]
    assert HOSTILE in page.words
    body = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert HOSTILE not in body
    assert "\x1b" not in body
    held = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
    assert len(held) == 3
    assert not any("<" in each for each in held)  # nothing in it can end the element
    # Plotly takes its texts for HTML of a kind: they are escaped for it too.
    assert page.data["map"]["layout"]["xaxis"]["title"]["text"].startswith("&lt;script&gt;")


def test_notes_and_contradictions_are_listed_and_escaped(tmp_path):
    X, y = blobs(2, 4, 2)
    clusters = found(X, y).clusters
    clusters.notes_.append(f"{HOSTILE} a note")
    clusters.contradictions_.extend(f"{i} = {i + 1}, {i} ≠ {i + 1} (<b>ann</b>)" for i in range(30))
    page = Page(write_report(tmp_path / "r.html", clusters, X).read_text(encoding="utf-8"))
    assert f"{HOSTILE} a note" in page.words
    assert "contradictions (30)" in page.words
    assert "0 = 1, 0 ≠ 1 (<b>ann</b>)" in page.words
    assert "and 10 more" in page.words


def test_long_cells_are_cut_with_the_whole_text_in_the_title(tmp_path):
    X, y = blobs(2, 4, 2)
    long = "word " * 100
    frame = pd.DataFrame({"text": [long] * len(X)} | {f"c{i}": range(len(X)) for i in range(20)})
    _, _, page = page_of(tmp_path, X, y, frame=frame)
    assert long.strip() in page.titles
    assert "13 more columns" in page.words
    assert page.find("details")


def test_very_many_columns_are_counted_not_shown(tmp_path):
    X, y = blobs(2, 4, 500)
    _, text, page = page_of(tmp_path, X, y)
    assert "432 further columns are not shown" in page.words
    assert "x499" not in re.sub(r"<script.*?</script>", "", text, flags=re.S)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        pytest.param([[1.0, 2.0, 3.0]], [0], id="one row"),
        pytest.param([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1], id="one column"),
        pytest.param(np.full((6, 3), 7.0), [0, 0, 0, 1, 1, 1], id="constant"),
        pytest.param(np.outer([1, 2, 30, 31], [1e30, -1e30, 1]), [0, 0, 1, 1], id="huge"),
        pytest.param(
            np.outer([1, 2, 30, 31], [1e100, 1e-100]), [0, 0, 1, 1], id="huge, two columns"
        ),
        pytest.param(np.float32([[0, 0], [1e-30, 0], [3e38, 1]]), [0, 0, 1], id="float32"),
    ],
)
def test_odd_data(tmp_path, X, y):
    clusters, _, page = page_of(tmp_path, np.asarray(X), np.asarray(y), truth=y)
    assert clusters.n_discovered_ == len(set(y))
    for trace in page.data["map"]["data"]:
        assert trace["type"] == "scatter"
    assert "NaN" not in page.words.replace("NaN, ", "")
    assert set(page.data) == {"map", "history", "sizes"}


def test_kinds_have_names(tmp_path):
    X, y = blobs(3, 10, 3)
    _, _, plain = page_of(tmp_path, X, y)
    names = ["roses & <b>co</b> %{x}", None, ""]
    _, _, page = page_of(tmp_path, X, y, names=names)
    assert "roses & <b>co</b> %{x}" in page.words  # its card
    assert "Kind 2 " in page.words
    assert "Kind 1 " in plain.words
    assert "Kind 0" not in plain.words
    centers = next(trace for trace in plain.data["map"]["data"] if trace["name"] == "centres")
    assert centers["text"] == ["kind 1", "kind 2", "kind 3"]
    assert set(plain.data["sizes"]["layout"]["xaxis"]["ticktext"]) == {"1", "2", "3"}
    _, _, other = page_of(tmp_path, X, y, numbers=[4, 7, 9])
    assert {"kind 4", "kind 7", "kind 9"} <= set(other.names("map"))
    legend = page.names("map")
    assert "roses &amp; &lt;b&gt;co&lt;/b&gt; %{x}" in legend
    assert {"kind 2", "kind 3"} <= set(legend)
    hover = [trace for trace in page.data["map"]["data"] if trace["name"].startswith("roses")]
    assert hover[0]["text"] == hover[0]["name"]
    assert "%{text}" in hover[0]["hovertemplate"]
    with pytest.raises(ValueError, match="names has 1 entries, but there are 3"):
        page_of(tmp_path, X, y, names=["roses"])


NAMES = (
    """[...document.querySelectorAll("#map .textpoint")].filter((one) => one.textContent.trim())"""
)
BOXES = f"""() => {NAMES}.map((one) => {{
    const {{left, right, top, bottom}} = one.getBoundingClientRect();
    return [left, right, top, bottom];
}})"""
WRITTEN = f"""(zooms) => {{
    const written = {NAMES}.length;
    return (window.zooms ?? 0) === zooms && 0 < written && written < 60;
}}"""
ZOOM = """async () => {
    const map = document.getElementById("map");
    const closer = ([low, high]) => [low + 0.2 * (high - low), high - 0.2 * (high - low)];
    const {xaxis, yaxis} = map._fullLayout;
    await Plotly.relayout(map, {"xaxis.range": closer(xaxis.range), "yaxis.range": closer(yaxis.range)});
    window.zooms = (window.zooms ?? 0) + 1;
}"""


@pytest.mark.slow
def test_names_on_the_map_are_readable_at_every_zoom(tmp_path):
    """In Chromium: no name stands on another one, and there are names however close one looks."""
    X, y = blobs(60, 6, 2)
    names = [f"a kind that is called {k}" for k in range(60)]
    page_of(tmp_path, X, y, names=names)
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto((tmp_path / "report.html").as_uri())
        page.wait_for_function(WRITTEN, arg=0)
        for closer in range(3):
            boxes = page.evaluate(BOXES)
            assert 2 <= len(boxes) < 60
            for place, (left, right, top, bottom) in enumerate(boxes):
                for other in boxes[:place]:
                    is_apart = left >= other[1] or other[0] >= right
                    assert is_apart or top >= other[3] or other[2] >= bottom
            page.evaluate(ZOOM)
            page.wait_for_function(WRITTEN, arg=closer + 1)


def test_no_cluster_at_all(tmp_path):
    X, _ = blobs(2, 5, 3)
    with samekind.Session(X, random_state=0) as session:
        session.stop()
        clusters = session.clusters()
    empty = replace(clusters.without_labels(), members_=[], _centers=np.empty((0, 3)))
    page = Page(write_report(tmp_path / "r.html", empty, X).read_text(encoding="utf-8"))
    assert "kinds found 0" in page.words
    assert "stopped because stopped by you" in page.words
    assert page.names("map") == ["no kind"]
    assert "Examples" not in page.words


def test_many_rows_are_sampled_with_all_known_ones():
    members = [np.arange(0, 900, 3), np.arange(1, 900, 3)]
    clusters = SimpleNamespace(n_rows_=100_000, members_=members)
    rows = choose_rows(clusters, seed=0, most=5_000)
    assert len(np.unique(rows)) == 5_000
    assert np.isin(np.concatenate(members), rows).all()
    assert (rows == choose_rows(clusters, seed=0, most=5_000)).all()
    fewer = choose_rows(clusters, seed=0, most=100)
    assert len(fewer) == 100
    assert np.isin(fewer, np.concatenate(members)).all()


def test_large_report_stays_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    _, text, page = page_of(tmp_path, X, y, {"budget": 2_500, "algorithm": "uniform"})
    segments = [t for t in page.data["map"]["data"] if t["mode"] == "lines"]
    shown = sum(
        int(re.search(r"\(([\d,]+)\)", t["name"]).group(1).replace(",", "")) for t in segments
    )
    assert shown <= 2_000
    assert "Drawn are 20,000 of the 60,000 rows" in page.words
    assert len(text) < 8_000_000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"X": np.zeros((3, 2))}, "X has 3 rows, but the clusters were found in 10"),
        ({"pairs": [[0, 1]]}, "belong together"),
        ({"pairs": [[0, 10]], "answers": [1]}, "pairs has row 10"),
        ({"images": np.zeros((10, 4))}, r"images must be \(n, h, w\)"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, wrong, message):
    X, y = blobs(2, 5, 2)
    clusters = found(X, y).clusters
    arguments = {"X": X} | wrong
    with pytest.raises(ValueError, match=message):
        write_report(tmp_path / "r.html", clusters, **arguments)
    assert not list(tmp_path.iterdir())


def test_clusters_from_a_file(tmp_path):
    X, y = blobs(3, 20, 4)
    clusters = found(X, y, budget=40, algorithm="batched").clusters
    clusters.save(tmp_path / "c.npz")
    loaded = samekind.Clusters.load(tmp_path / "c.npz")
    with pytest.raises(AttributeError):
        _ = loaded.labels_
    texts = [
        write_report(tmp_path / "r.html", each, X).read_text(encoding="utf-8")
        for each in (clusters, loaded)
    ]
    assert texts[0] == texts[1]
