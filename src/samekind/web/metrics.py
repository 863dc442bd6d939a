"""Metrics of a server, as Prometheus reads them: requests, how long they took, and where each project stands.

Names of projects and numbers are in them, but nothing of the data, and nobody's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.types import Scope

from samekind.web.doors import CALLER
from samekind.web.site import Site

__all__ = ["Metrics"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds


class Metrics:
    """What a server counts."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self, site: Site) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "samekind_requests", "Requests answered.", ("project", "route", "method", "status"),
            registry=self._registry,
        )  # fmt: skip
        self._seconds = Histogram(
            "samekind_request_seconds", "How long requests took.", ("route", "method"),
            buckets=BUCKETS, registry=self._registry,
        )  # fmt: skip
        self._registry.register(_OfProjects(site))

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request."""
        caller = scope.get(CALLER)
        method = scope["method"] if scope["method"] in ("GET", "HEAD", "POST", "PUT") else "other"
        route = str(getattr(scope.get("route"), "name", ""))
        self._requests.labels("" if caller is None else caller.name, route, method, status).inc()
        self._seconds.labels(route, method).observe(seconds)

    def text(self) -> bytes:
        """Return all of it in Prometheus's text format."""
        return generate_latest(self._registry)


class _OfProjects(Collector):
    def __init__(self, site: Site) -> None:
        self._site = site

    def collect(self) -> Iterator[Metric]:
        """Yield where each project stands, as it is known here: nothing is read from databases for it."""
        ready = GaugeMetricFamily(
            "samekind_project_ready", "Whether it is open.", labels=["project"]
        )
        numbers = {
            "answers": "Answers that stand.",
            "questions": "Questions that were answered and charged.",
            "open_questions": "Pairs that wait for an answer.",
            "clusters": "Clusters found.",
            "annotators": "People and models who answered.",
        }
        gauges = {
            name: GaugeMetricFamily(f"samekind_project_{name}", text, labels=["project"])
            for name, text in numbers.items()
        }
        for hosted in self._site.projects.values():
            ready.add_metric([hosted.name], float(hosted.state == "ready"))
            project = hosted.project
            if project is None:
                continue
            session = project.session
            counts = {
                "answers": len(session.ledger),
                "questions": session.n_questions,
                "open_questions": len(session.pending()),
                "clusters": session.progress.discovered,
                "annotators": len(session.ledger.annotators),
            }
            for name, count in counts.items():
                gauges[name].add_metric([hosted.name], count)
        yield ready
        yield from gauges.values()
