"""The service as a process: signals, workers, models that change under load, user errors."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import pytest

import planted
from coclick import open_model
from service.conftest import running

pytestmark = pytest.mark.slow

QUERY = next(iter(planted.TOPICS))


@pytest.fixture(scope="module")
def expected(models):
    return {name: open_model(models / name).search(QUERY).hits() for name in ("vpcg", "pls")}


def hits(answer):
    return [(hit["doc"], pytest.approx(hit["score"])) for hit in answer.json()["results"]]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 0)])
def test_serves_on_localhost_until_a_signal(models, expected, number, code):
    with running(models / "vpcg", models / "pls") as (process, address):
        assert urlsplit(address).hostname == "127.0.0.1"
        for name in ("vpcg", "pls"):
            assert hits(httpx.get(address + "/search", params={"q": QUERY, "model": name})) == expected[name]
        assert "ErrorResponse" in httpx.get(address + "/openapi.json").json()["components"]["schemas"]
        process.send_signal(number)
        assert process.wait(30) == code
        assert process.stderr.read() == ""


def test_running_requests_finish_at_shutdown(models, expected):
    body = b'{"query": "%s", "candidates": ["d"]}' % QUERY.encode()
    with running(models / "vpcg") as (process, address):
        port = urlsplit(address).port
        with socket.create_connection(("127.0.0.1", port)) as connection:
            head = (
                "POST /rank HTTP/1.1",
                "host: localhost",
                "content-type: application/json",
                f"content-length: {len(body)}",
            )
            connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body[:10])
            time.sleep(0.3)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            assert process.poll() is None, "it waits"
            connection.sendall(body[10:])
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        assert process.wait(30) in (0, -signal.SIGTERM)


def test_keep_alive_clients_lose_no_response_at_shutdown(models):
    lost, answers = [], []

    def ask(port):
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            while True:  # over the same connection, until the service closes it after an answer
                connection.request("GET", f"/search?q={QUERY.replace(' ', '+')}")
                answers.append(connection.getresponse().read())
        except ConnectionRefusedError:
            pass
        except OSError as error:
            lost.append(error)

    with running(models / "vpcg") as (process, address), ThreadPoolExecutor(4) as clients:
        for _ in range(4):
            clients.submit(ask, urlsplit(address).port)
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    assert not lost and len(set(answers)) == 1


def test_same_answers_after_kill(models, expected):
    with running(models / "vpcg") as (process, _):
        process.kill()
        process.wait(30)
    with running(models / "vpcg") as (_, address):
        assert hits(httpx.get(address + "/search", params={"q": QUERY})) == expected["vpcg"]


def test_models_change_under_load_without_wrong_answers(models, expected, tmp_path):
    place = tmp_path / "model"
    shutil.copytree(models / "vpcg", place)
    right = [expected["vpcg"], expected["pls"]]
    ended, found, wrong = threading.Event(), set(), []

    def ask(address, malformed):
        with httpx.Client() as client:
            while not ended.is_set():
                if malformed:
                    answer = client.post(address + "/rank", content=b"{")
                    wrong.extend([] if answer.status_code == 422 else [answer.text])
                    continue
                answer = client.get(address + "/search", params={"q": QUERY})
                same = [
                    i
                    for i, hits_of in enumerate(right)
                    if answer.status_code == 200 and hits(answer) == hits_of
                ]
                found.update(same)
                wrong.extend([] if same else [answer.text])

    with running(place) as (_, address):
        threads = [threading.Thread(target=ask, args=(address, i == 0)) for i in range(3)]
        for thread in threads:
            thread.start()
        for name in ("pls", "vpcg", "pls"):
            open_model(models / name).save(place, force=True)
            time.sleep(1.5)
        ended.set()
        for thread in threads:
            thread.join()
        assert httpx.get(address + "/models").json()["models"][0]["model"] == "pls(dim=8)"
        assert "coclick_model_reloads_total 3.0" in httpx.get(address + "/metrics").text
    assert not wrong and found == {0, 1}


def test_two_workers(models, expected):
    with running(models / "vpcg", "--workers", "2") as (process, address):
        for _ in range(20):
            assert hits(httpx.get(address + "/search", params={"q": QUERY})) == expected["vpcg"]
        assert (
            'coclick_requests_total{endpoint="/search",status="200"} 20.0'
            in httpx.get(address + "/metrics").text
        )
        children = subprocess.run(
            ["pgrep", "-P", str(process.pid)], capture_output=True, text=True
        ).stdout.split()
        assert len(children) >= 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere"),
        (["{vpcg}", "--port", "{taken}"], "cannot listen"),
        (["{vpcg}", "{vpcg}"], "two models are called"),
        (["{vpcg}", "--api-key-file", "nowhere"], "the API key cannot be read"),
        (["{vpcg}", "--report", "nowhere"], "the report does not exist"),
    ],
)
def test_user_errors_are_one_line(models, arguments, message):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = [one.format(vpcg=models / "vpcg", taken=taken.getsockname()[1]) for one in arguments]
        done = subprocess.run(
            [sys.executable, "-m", "coclick", "serve", *given],
            capture_output=True, text=True, timeout=60, env=os.environ,
        )  # fmt: skip
    assert done.returncode in (2, 3) and message in done.stderr and "Traceback" not in done.stderr
