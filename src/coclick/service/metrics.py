"""What the service counts, in Prometheus' text format; over all workers where there are several."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """Counters of one application."""

    def __init__(self) -> None:
        self._registry = here = CollectorRegistry()
        self._requests = Counter(
            "coclick_requests", "Answered requests", ["endpoint", "status"], registry=here
        )
        self._seconds = Histogram(
            "coclick_request_seconds", "Time to answer", ["endpoint"], buckets=_SECONDS, registry=here
        )
        self._swaps = Counter("coclick_model_swaps", "Models taken anew from disk", registry=here)
        self._problems = Counter("coclick_model_problems", "Models that could not be taken", registry=here)
        self._running = Gauge(
            "coclick_requests_running", "Requests in work", multiprocess_mode="livesum", registry=here
        )

    def began(self) -> None:
        """A request came."""
        self._running.inc()

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        """A request was answered; `endpoint` is a path of ours, or "other"."""
        self._running.dec()
        self._requests.labels(endpoint, str(status)).inc()
        self._seconds.labels(endpoint).observe(seconds)

    def refreshed(self, *, taken: bool) -> None:
        """A model changed on disk, and was taken or not."""
        (self._swaps if taken else self._problems).inc()

    def text(self) -> bytes:
        """All figures."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        multiprocess.MultiProcessCollector(together)
        return generate_latest(together)
