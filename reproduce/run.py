"""Run all jobs of some papers on some logs, in several processes, and store what was measured."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from coclick.jit.threads import set_threads
from reproduce import results
from reproduce.jobs import Job, JobResult, merge
from reproduce.logs import DATA, Log, LogSource
from reproduce.measure import jobs_for, measure_paper
from reproduce.paper import Paper

_started = time.perf_counter()


def tell(what: str) -> None:
    """Write a progress line with the time since the start."""
    minutes, seconds = divmod(round(time.perf_counter() - _started), 60)
    print(f"[{minutes:3}:{seconds:02}] {what}", file=sys.stderr, flush=True)


def run(
    papers: Sequence[Paper],
    sources: Sequence[LogSource],
    work: Path,
    out: Path,
    *,
    quick: bool,
    processes: int,
) -> dict[str, Any]:
    """Make the logs, run the jobs, measure, and write one file for each paper and log.

    Jobs that are timed by the clock run at the end, one at a time. Return facts about the run.
    """
    set_threads(1)
    made_at = commit()  # of the code that runs, also if another one is checked out meanwhile
    logs = [Log(source, work / ("quick" if quick else "full") / source.name, quick) for source in sources]
    logs = [log for log in logs if _is_available(log.source)]
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, set_threads, (1,))
    reused = count = 0
    try:
        making: dict[Future[float], Log] = {pool.submit(make_log, log): log for log in logs}
        working: dict[Future[float], tuple[Log, Job]] = {}
        open_jobs: dict[str, int] = {}
        timed: list[tuple[Log, Job]] = []
        while making or working:
            done, _ = wait([*making, *working], return_when=FIRST_COMPLETED)
            for future in done:
                if future in making:
                    log = making.pop(future)
                    tell(f"{log.source.name}: the log is ready after {future.result():.0f} s")
                    every = _jobs(log, papers)
                    jobs = [job for job in every if not job.is_done(log)]
                    count, reused = count + len(every), reused + len(every) - len(jobs)
                    timed += [(log, job) for job in jobs if job.timed]
                    at_once = [job for job in jobs if not job.timed]
                    working |= {pool.submit(run_job, job, log): (log, job) for job in at_once}
                    open_jobs[log.source.name] = len(jobs)
                else:
                    log, job = working.pop(future)
                    open_jobs[log.source.name] -= 1
                    tell(f"{log.source.name}: {job.spec}, {future.result():.0f} s; {len(working)} jobs left")
                if not open_jobs[log.source.name]:
                    _measure(log, papers, out, made_at)
        for log, job in timed:
            seconds = pool.submit(run_job, job, log).result()
            open_jobs[log.source.name] -= 1
            tell(f"{log.source.name}: {job.spec} with {job.timed} threads, {seconds:.0f} s")
            if not open_jobs[log.source.name]:
                _measure(log, papers, out, made_at)
    finally:
        pool.shutdown(cancel_futures=True)
    return {
        "commit": made_at,
        "seconds": round(time.perf_counter() - _started),
        "processes": processes,
        "jobs": count,
        "reused": reused,
    }


def _is_available(source: LogSource) -> bool:
    if source.data and not (DATA / source.data).is_dir():
        tell(f"{source.name}: skipped, the data is not here")
        return False
    return True


def _jobs(log: Log, papers: Sequence[Paper]) -> list[Job]:
    """The jobs of all papers on a log."""
    return merge(job for paper in papers for job in jobs_for(paper, log))


def make_log(log: Log) -> float:
    """Make a log, unless it is there; return the time in seconds. Runs in a worker process."""
    started = time.perf_counter()
    ready = log.directory / "judgments.json"
    if not ready.is_file():
        shutil.rmtree(log.directory, ignore_errors=True)
        log.directory.mkdir(parents=True)
        log.source.make(log.directory, log.source.quick_scale if log.is_quick else 1.0)
    return time.perf_counter() - started


def run_job(job: Job, log: Log) -> float:
    """Run a job; return the time in seconds. Runs in a worker process."""
    started = time.perf_counter()
    job.run(log)
    return time.perf_counter() - started


def _measure(log: Log, papers: Sequence[Paper], out: Path, made_at: str) -> None:
    results_of_jobs = [JobResult.read(job, log) for job in _jobs(log, papers)]
    seconds = sum(found.info["total_seconds"] for found in results_of_jobs if found)
    for paper in papers:
        found = measure_paper(paper, log)
        if not found["exhibits"] and not found["ablations"]:
            continue
        about: dict[str, Any] = {
            "paper": paper.key,
            "log": log.source.name,
            "commit": made_at,
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "quick": log.is_quick,
            "seconds": round(seconds),  # of all jobs on the log, each in its own process
            "settings": dict(log.settings),
            "statistics": log.statistics(),
        }
        results.write(out, {**about, **found})
        tell(f"{log.source.name}: measured {paper.key}")


def commit() -> str:
    """Return the commit that is checked out, or an empty text."""
    here = Path(__file__).parent
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=False
    )
    return found.stdout.strip()
