"""The generator and the loaders: sizes, centres, moments, places to look, and failures."""

from __future__ import annotations

import os
import urllib.error
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import Bunch

from samekind.datasets import (
    _fetch,
    load_banking77,
    load_digits,
    load_kdd,
    load_shuttle,
    make_synthetic,
)
from samekind.datasets._synthetic import zipf_sizes
from samekind.errors import DataError


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("SAMEKIND_DATA")
    if folder and Path(folder).is_dir():
        return Path(folder)
    if os.environ.get("CI") == "true":
        pytest.fail("SAMEKIND_DATA must name the folder of the test data where CI is true")
    pytest.skip("SAMEKIND_DATA does not name a folder that holds the test data")


@pytest.fixture
def empty_home(tmp_path, monkeypatch) -> Path:
    """No data anywhere: neither a folder of files nor anything in the cache."""
    monkeypatch.delenv("SAMEKIND_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    return tmp_path / "home" / "samekind"


class TestSynthetic:
    def test_sizes_by_hand(self):
        # 1 + 1/4 + 1/9 = 49/36; of 98 points: 72, 18, 8.
        assert zipf_sizes(98, 3, 2.0).tolist() == [72, 18, 8]
        assert zipf_sizes(10, 4, 0.0).tolist() == [3, 3, 2, 2]
        assert zipf_sizes(7, 7, 2.5).tolist() == [1] * 7
        assert zipf_sizes(8, 7, 2.5).tolist() == [2] + [1] * 6

    @given(st.integers(1, 60), st.integers(0, 10**9), st.floats(0, 50))
    def test_sizes_add_up_and_never_grow(self, n_clusters, more, alpha):
        sizes = zipf_sizes(n_clusters + more, n_clusters, alpha)
        assert sizes.sum() == n_clusters + more
        assert sizes.min() >= 1
        assert (np.diff(sizes) <= 0).all()

    def test_points_lie_around_their_centres(self):
        X, y, centers = make_synthetic(
            20_000, n_clusters=5, alpha=0.5, n_features=3, random_state=0, return_centers=True
        )
        assert X.shape == (20_000, 3)
        assert y.dtype == np.int64
        assert ((centers >= 0) & (centers <= 5)).all()
        for cluster in range(5):
            members = X[y == cluster]
            assert np.abs(members.mean(axis=0) - centers[cluster]).max() < 0.03
            assert np.abs(np.cov(members.T) - 0.09 * np.eye(3)).max() < 0.01

    def test_labels_are_ranks_and_rows_are_shuffled(self):
        X, y = make_synthetic(5000, n_clusters=10, random_state=1)
        assert np.bincount(y).tolist() == zipf_sizes(5000, 10, 2.5).tolist()
        assert (np.diff(y) < 0).any()
        Z, z = make_synthetic(5000, n_clusters=10, random_state=1, shuffle=False)
        assert (np.diff(z) >= 0).all()
        assert len(X) == len(Z)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_seed_decides(self, dtype):
        """P27: the same seed, the same data."""

        def make(seed):
            return make_synthetic(500, n_clusters=9, p=0.5, dtype=dtype, random_state=seed)

        X, y = make(3)
        assert X.dtype == dtype
        assert X.flags.c_contiguous
        again, y_again = make(3)
        assert np.array_equal(X, again)
        assert np.array_equal(y, y_again)
        assert not np.array_equal(X, make(4)[0])
        assert np.array_equal(make(np.random.default_rng(7))[0], make(np.random.default_rng(7))[0])

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n": 5, "n_clusters": 6}, "n must be at least n_clusters.*n=5.*n_clusters=6"),
            ({"n_clusters": 0}, "n_clusters must be a positive int"),
            ({"alpha": -1}, "alpha must be"),
            ({"p": 1.1}, r"p must be a number in \[0, 1\], got 1.1"),
            ({"collisions": "some"}, "collisions must be one of 'sparse', 'dense'"),
            ({"random_state": "x"}, "random_state must be"),
        ],
    )
    def test_hostile_input(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            make_synthetic(**{"n": 1000, **parameters})


class TestFiles:
    """Against the real files."""

    def test_shuttle(self, data_folder):
        data = load_shuttle()
        assert data.data.shape == (58_000, 9)
        assert data.data.dtype == np.float32
        assert data.target.dtype == np.int64
        counts = dict(zip(data.target_names.tolist(), np.bincount(data.target), strict=True))
        assert counts["Rad.Flow"] == 45_586
        assert counts["Bpv.Close"] == 10
        assert len(data.feature_names) == 9
        assert np.abs(data.data.mean(axis=0, dtype=np.float64)).max() < 1e-6
        assert data.data.std(axis=0, dtype=np.float64) == pytest.approx(np.ones(9), abs=1e-5)
        X, y = load_shuttle(return_X_y=True, standardize=False)
        assert np.array_equal(X, np.round(X))
        assert np.array_equal(y, data.target)

    def test_kdd(self, data_folder):
        data = load_kdd()
        assert data.data.shape == (494_021, 33)
        assert data.data.dtype == np.float32
        assert data.feature_names == list(_fetch.KDD_COLUMNS)
        assert tuple(data.target_names) == _fetch.KDD_CLASSES
        assert np.bincount(data.target)[[0, -1]].tolist() == [280_790, 2]
        assert data.data.std(axis=0, dtype=np.float64) == pytest.approx(np.ones(33), abs=1e-5)
        assert "KDD 10 %" in data.DESCR
        assert "reweighted" not in data.DESCR

    def test_banking77(self, data_folder):
        data = load_banking77()
        assert data.data.shape == (13_083, 64)
        assert len(data.texts) == 13_083
        assert data.texts[0] == "I am still waiting on my card?"
        assert data.target_names[data.target[0]] == "card_arrival"
        assert np.linalg.norm(data.data, axis=1) == pytest.approx(np.ones(13_083), abs=1e-5)
        X, _ = load_banking77(return_X_y=True, standardize=True)
        assert X.std(axis=0, dtype=np.float64) == pytest.approx(np.ones(64), abs=1e-5)


def test_digits():
    data = load_digits()
    assert data.data.shape == (1797, 64)
    assert np.array_equal(data.images.reshape(1797, 64), data.data)
    assert data.target_names.tolist() == [str(i) for i in range(10)]
    X, y = load_digits(return_X_y=True, standardize=True)
    assert np.isfinite(X).all()
    assert not X[:, 0].any()
    assert X.std(axis=0, dtype=np.float64).max() == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(y, data.target)


def shuttle_bunch(n=700):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 99, (n, 9)), columns=[f"A{i}" for i in range(1, 10)])
    target = pd.Series(np.arange(n) % 7 + 1).astype(str).astype("category")
    return Bunch(data=frame, target=target)


class TestDownloads:
    def test_shuttle_is_downloaded_once_and_kept(self, empty_home, monkeypatch):
        calls = []

        def fetch_openml(**parameters):
            calls.append(parameters)
            return shuttle_bunch()

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        monkeypatch.setitem(_fetch.ROWS, "shuttle", 700)
        data = load_shuttle(standardize=False)
        assert data.target.tolist()[:8] == [0, 1, 2, 3, 4, 5, 6, 0]
        assert data.target_names[0] == "Rad.Flow"
        assert data.feature_names[0] == "V1"
        assert np.array_equal(data.data, shuttle_bunch().data.to_numpy())
        assert [path.name for path in empty_home.iterdir()] == ["shuttle.npz"]
        again = load_shuttle(standardize=False)
        assert np.array_equal(again.data, data.data)
        assert [call["data_id"] for call in calls] == [40685]

    def test_kdd(self, empty_home, monkeypatch):
        names = [*_fetch.KDD_COLUMNS[:1], "protocol_type", *_fetch.KDD_COLUMNS[1:], "land"]
        rows = [[i, b"tcp", *range(32), 1] for i in range(46)]
        target = [f"{_fetch.KDD_CLASSES[i % 23]}.".encode() for i in range(46)]
        bunch = Bunch(
            data=np.array(rows, dtype=object),
            target=np.array(target, dtype=object),
            feature_names=names,
        )
        monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", lambda percent10: bunch)
        monkeypatch.setitem(_fetch.ROWS, "kdd10", 46)
        monkeypatch.setitem(_fetch.ROWS, "kdd", 46)
        with pytest.raises(ValueError, match="exclude each other"):
            load_kdd(full=True, reweighted=True)
        whole = load_kdd(full=True, standardize=False)
        assert whole.data.shape == (46, 33)
        assert whole.DESCR.startswith("KDD Cup 1999, the full file")
        X, y = load_kdd(return_X_y=True, standardize=False)
        assert X.shape == (46, 33)
        assert X[5].tolist() == [5, *range(32)]
        assert y.tolist() == list(range(23)) * 2

    def test_offline(self, empty_home, monkeypatch):
        def fail(*_, **__):
            raise urllib.error.URLError("no network")

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
        monkeypatch.setattr(sklearn.datasets, "fetch_kddcup99", fail)
        monkeypatch.setattr("urllib.request.urlopen", fail)
        for load, file in (
            (load_shuttle, "shuttle.npz"),
            (load_kdd, "kdd10.npz"),
            (load_banking77, "banking77.npz and banking77.csv.gz"),
        ):
            with pytest.raises(FileNotFoundError, match="no network") as error:
                load()
            assert f"set SAMEKIND_DATA to a folder that holds {file}" in str(error.value)
            assert "Connect to the internet" in str(error.value)
        assert not empty_home.exists()

    def test_no_download_wanted(self, empty_home):
        """P31: nothing is loaded from the network unless it is asked for."""
        with pytest.raises(FileNotFoundError, match="Pass download_if_missing=True"):
            load_shuttle(download_if_missing=False)

    def test_a_changed_source_is_not_kept(self, empty_home, monkeypatch):
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **_: shuttle_bunch())
        with pytest.raises(DataError, match="has 700 rows in 7 classes; expected 58,000"):
            load_shuttle()
        assert not empty_home.exists()

    def test_the_folder_comes_before_the_cache(self, empty_home, tmp_path, monkeypatch):
        def save(folder, value):
            folder.mkdir(parents=True, exist_ok=True)
            np.savez(
                folder / "shuttle.npz", X=np.full((2, 1), value), y=[0, 1], label_names=["a", "b"]
            )

        save(empty_home, 1.0)
        save(tmp_path / "folder", 2.0)
        assert load_shuttle(standardize=False).data.tolist() == [[1], [1]]
        monkeypatch.setenv("SAMEKIND_DATA", str(tmp_path / "folder"))
        assert load_shuttle(standardize=False).data.tolist() == [[2], [2]]

    @pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"not an archive"])
    def test_a_damaged_file(self, empty_home, content):
        empty_home.mkdir(parents=True)
        (empty_home / "shuttle.npz").write_bytes(content)
        with pytest.raises(DataError, match=r"shuttle.npz cannot be read .*Delete it"):
            load_shuttle()
