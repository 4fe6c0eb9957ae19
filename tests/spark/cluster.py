"""A Spark cluster on this machine: a master and two workers as separate processes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

WORKERS = 2
_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -XX:ReservedCodeCacheSize=160m"
_START_TIMEOUT = 60  # seconds
_MASTER = re.compile(r"Starting Spark master at (spark://[\w.]+:\d+)")
_REGISTERED = re.compile(r"Registering worker")


class Cluster:
    """A master and workers of one core each, which can be killed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.workers: list[subprocess.Popen] = []
        self._master = self._start("master", "--port", "0")
        self.address = self._logged(_MASTER, 1)[0]
        for number in range(WORKERS):
            self._add_worker(number)
        self._logged(_REGISTERED, WORKERS)

    def settings(self) -> dict[str, str]:
        """Settings for a small session that gives up quickly on dead workers."""
        return {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.shuffle.io.maxRetries": "1",
            "spark.shuffle.io.retryWait": "100ms",
        }

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executor, as when a machine is lost."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)
        self.workers[number].wait()

    def stop(self) -> None:
        """Stop all processes."""
        for process in [*self.workers, self._master]:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _add_worker(self, number: int) -> None:
        place = self.directory / f"worker-{number}"
        size = ("--cores", "1", "--memory", "600m", "--work-dir", str(place))
        self.workers.append(self._start("worker", *size, self.address, log=f"worker-{number}"))

    def _start(self, role: str, *arguments: str, log: str | None = None) -> subprocess.Popen:
        import pyspark

        home = Path(pyspark.__file__).parent
        root = Path(__file__).resolve().parents[2]
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": "128m",
            "SPARK_DAEMON_JAVA_OPTS": _FAST,
            "SPARK_LOCAL_DIRS": str(self.directory / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(root / "src"), os.environ.get("PYTHONPATH", "")]),
        }
        command = [f"{home}/bin/spark-class", f"org.apache.spark.deploy.{role}.{role.capitalize()}"]
        with (self.directory / f"{log or role}.log").open("w") as output:
            return subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that a worker can be killed with its executors
            )

    def _logged(self, pattern: re.Pattern[str], times: int) -> list[str]:
        """Wait until the master's log has enough matches of a pattern and return them."""
        log = self.directory / "master.log"
        give_up = time.monotonic() + _START_TIMEOUT
        while time.monotonic() < give_up:
            found = pattern.findall(log.read_text())
            if len(found) >= times:
                return found
            time.sleep(0.1)
        self.stop()
        raise TimeoutError(f"the cluster does not start: {log.read_text()[-2000:]}")
