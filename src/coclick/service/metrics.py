"""Metrics in the Prometheus text format, summed over all workers."""

from __future__ import annotations

import os
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        by_path = "Requests answered, by path and status"
        self._requests = counter("coclick_requests", by_path, ["endpoint", "status"])
        seconds = "Seconds to answer a request"
        histogram = partial(Histogram, registry=self._registry, buckets=_BUCKETS)
        self._seconds = histogram("coclick_request_seconds", seconds, ["endpoint"])
        self._reloads = counter("coclick_model_reloads", "Times a model was reloaded from disk")
        self._problems = counter("coclick_model_problems", "Times a model could not be reloaded")
        failed = "Times the check for changes on disk failed"
        self._failed_checks = counter("coclick_watcher_failures", failed)
        running = "Requests being answered now"
        gauge = partial(Gauge, registry=self._registry)
        self._running = gauge("coclick_requests_running", running, multiprocess_mode="livesum")
        self._connections = gauge("coclick_connections", "Open connections", multiprocess_mode="livesum")
        refused = "Connections ended because of a limit, by reason"
        self._refused = counter("coclick_connections_refused", refused, ["reason"])
        now = "Problems that keep new versions from being served now"
        self._problems_now = gauge("coclick_problems", now, multiprocess_mode="livemax")

    def request_started(self) -> None:
        """Count a request in progress."""
        self._running.inc()

    def request_finished(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a finished request; `endpoint` is the path of a route, or "other"."""
        self._running.dec()
        self._requests.labels(endpoint, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def model_changed(self, *, reloaded: bool) -> None:
        """Count a model that changed on disk, whether it could be reloaded or not."""
        (self._reloads if reloaded else self._problems).inc()

    def check_failed(self) -> None:
        """Count a check for changes on disk that failed."""
        self._failed_checks.inc()

    def set_problems(self, count: int) -> None:
        """Set the number of problems that `/models` shows now."""
        self._problems_now.set(count)

    def connections_open(self, change: int) -> None:
        """Count an open connection, or one less."""
        self._connections.inc(change)

    def connection_refused(self, reason: str) -> None:
        """Count a connection that was ended because of a limit."""
        self._refused.labels(reason).inc()

    def text(self) -> bytes:
        """Return all metrics as text."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        combined = CollectorRegistry()
        multiprocess.MultiProcessCollector(combined)
        return generate_latest(combined)
