"""What the tests share: small data with known kinds, and people who answer."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # two of us share two processors: before NumPy is loaded
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

from postgres import running
from samekind import DIFFERENT, SAME, UNSURE
from samekind.points import ArrayPoints

settings.register_profile("samekind", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("samekind")

POSTGRES = pytest.param("postgres", marks=[pytest.mark.xdist_group("postgres"), pytest.mark.slow])
AT_FIRST = pytest.StashKey[set[str]]()
NEW = (logging.NOTSET, False, True, [])  # the state of a logger that nobody touched


def pytest_configure():
    """Let programs that tests start hear Ctrl-C, also where a background shell has us ignore it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionstart(session):
    """Note what the checkout holds; compile once, not in each process."""
    session.stash[AT_FIRST] = {path.name for path in session.config.rootpath.iterdir()}
    if session.config.getoption("numprocesses", None) and not session.config.option.collectonly:
        subprocess.run([sys.executable, str(Path(__file__).parent / "compiled.py")], check=True)


def pytest_collection_modifyitems(items):
    """Begin with the tests of the page: they share one browser, so one process has to run them all."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_teardown(item):
    """See that a test leaves nothing in the checkout, and our loggers as they were."""
    result = yield
    every = [*logging.root.manager.loggerDict.values()]
    changed = [
        logger
        for logger in every
        if isinstance(logger, logging.Logger) and re.match(r"samekind(\.|$)", logger.name)
        if state(logger) != NEW
    ]
    for logger in changed:
        set_state(logger, NEW)  # said once
    left = {path.name for path in item.config.rootpath.iterdir()} - item.session.stash[AT_FIRST]
    item.session.stash[AT_FIRST] |= left  # said once
    made = {"build", "dist", "site"}  # by `make` beside us, as hidden ones are by tools
    left = {name for name in left - made if not name.startswith(".")}
    assert not left, f"left in the checkout, by this test or one beside it: {sorted(left)}"
    assert not changed, f"turned off or set up, and left so: {changed}"
    return result


def state(logger):
    """Return what decides whether a logger writes, and where."""
    return logger.level, logger.disabled, logger.propagate, [*logger.handlers]


def set_state(logger, wanted):
    """Make a logger's state what it once was."""
    level, logger.disabled, logger.propagate, handlers = wanted
    logger.handlers = [*handlers]
    logger.setLevel(level)


@pytest.fixture
def own_logs():
    """Let a test set up logs as `samekind serve` does, for its whole process."""
    names = ("samekind", "uvicorn.error")
    before = {name: state(logging.getLogger(name)) for name in names}
    yield
    for name in names:
        set_state(logging.getLogger(name), before[name])


def blobs(sizes=(40, 25, 15), d=2, spread=0.2, gap=10.0, seed=0):
    """Return X and y of clusters that are far apart, in shuffled order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    centers = gap * np.column_stack([np.arange(len(sizes))] * d) * (-1) ** np.arange(d)
    return centers[y] + rng.uniform(-spread, spread, size=(y.size, d)), y


@contextmanager
def dask_client():
    """Yield a client of a real cluster: two processes of one thread."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def keys(pairs):
    """Return the unordered pairs as a list of tuples."""
    return [tuple(sorted(pair)) for pair in np.asarray(pairs).tolist()]


class Expert:
    """Knows the kinds, is unsure of a fixed share of all pairs, and remembers what it was asked."""

    def __init__(self, y, unsure=0.0):
        self.y = np.asarray(y)
        self.unsure = unsure
        self.waves = []

    @property
    def asked(self):
        return [key for wave in self.waves for key in keys(wave)]

    def __call__(self, pairs):
        self.waves.append(pairs.copy())
        return np.array([self.says(*sorted(pair)) for pair in pairs.tolist()], dtype=np.int8)

    def says(self, a, b):
        if np.random.default_rng((a, b)).random() < self.unsure:
            return UNSURE
        return SAME if self.y[a] == self.y[b] else DIFFERENT


def honest(question, kinds):
    """Return what one who knows the kinds of all rows answers to a question of a project."""
    from samekind.project import SheetAnswer

    if question.type == "pair":
        return "same" if kinds[question.a.row] == kinds[question.b.row] else "different"
    if question.type == "sheet":
        kind = kinds[question.cluster.cluster]
        return SheetAnswer([item.row for item in question.items if kinds[item.row] != kind])
    kind = kinds[question.item.row]
    return next((o.cluster for o in question.options if kinds[o.cluster] == kind), "none")


def answer(session, oracle, waves=None):
    """Answer the pending questions of a session, wave by wave, to the end or so many times."""
    while not session.done and waves != 0:
        session.tell(session.pending(), oracle(session.pending()))
        waves = None if waves is None else waves - 1
    return session


def assert_same_clusters(one, other):
    """Check that two results agree in everything but the time they took; centres up to rounding."""
    np.testing.assert_allclose(one.all_centers_, other.all_centers_, rtol=1e-12, atol=1e-12)
    assert [m.tolist() for m in one.members_] == [m.tolist() for m in other.members_]
    assert one.given_up_.tolist() == other.given_up_.tolist()
    assert one.history_.keys() == other.history_.keys()
    for name, values in one.history_.items():
        np.testing.assert_array_equal(values, other.history_[name], err_msg=name)
    for name in ("n_recovered_", "n_questions_", "n_samples_", "n_rounds_", "stop_reason_"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("algorithm_", "random_state_", "n_rows_", "contradictions_", "notes_"):
        assert getattr(one, name) == getattr(other, name), name


def assert_recovered(clusters, X, y, tolerance=0.2):
    """Check that every kind of y is recovered, with pure members and a centre close to its mean."""
    kinds = np.unique(y)
    assert clusters.n_recovered_ == clusters.n_discovered_ == kinds.size
    assert all(np.unique(y[members]).size == 1 for members in clusters.members_)
    found = [y[members[0]] for members in clusters.members_]
    assert sorted(found) == kinds.tolist()
    for kind, center in zip(found, clusters.centers_, strict=True):
        assert np.abs(center - X[y == kind].mean(axis=0)).max() <= tolerance


class CountingPoints(ArrayPoints):
    """Notes every draw and every added set of centres, in order."""

    def __init__(self, X):
        super().__init__(X)
        self.log = []

    def sampler(self):
        sampler = super().sampler()
        draw, add = sampler.draw, sampler.add

        def counted_draw(uniforms):
            self.log.append(("draw", uniforms.size))
            return draw(uniforms)

        def counted_add(centers):
            self.log.append(("add", len(centers)))
            add(centers)

        sampler.draw, sampler.add = counted_draw, counted_add
        return sampler

    def draws_by_round(self):
        """Return for each stretch between two added sets of centres the sizes of its draws."""
        rounds = [[]]
        for what, size in self.log:
            if what == "add":
                rounds.append([])
            else:
                rounds[-1].append(size)
        return rounds


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of threads in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, dashboard_address=":0", set_as_default=False
    ) as client:
        yield client


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL server of our own, for all tests that use one."""
    with running() as server:
        yield server


@pytest.fixture
def postgres(postgres_server, tmp_path, monkeypatch):
    """That server, and a folder of the test's own: a project on a server keeps its features there."""
    monkeypatch.chdir(tmp_path)
    return postgres_server


def place_for(request, backend):
    """Return where there is no project yet."""
    if backend == "postgres":
        return request.getfixturevalue("postgres").url()
    return request.getfixturevalue("tmp_path") / "mine.db"


@pytest.fixture(scope="session")
def data_folder():
    """Where the real data sets are."""
    folder = os.environ.get("SAMEKIND_DATA")
    if folder and Path(folder).is_dir():
        return Path(folder)
    why = "SAMEKIND_DATA does not name a folder with the real data sets"
    if os.environ.get("CI") == "true":
        pytest.fail(why)
    pytest.skip(why)
