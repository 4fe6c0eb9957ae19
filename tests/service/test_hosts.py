"""The `Host` header: names that pages of other sites cannot have."""

import socket

import pytest

import planted
from coclick.errors import UserError
from coclick.service import run
from coclick.service.hosts import check_allowed, hosts_for
from coclick.service.settings import Settings
from service.conftest import in_process

QUERY = next(iter(planted.TOPICS))


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost", True),
        ("LOCALHOST.:8765", True),
        ("127.0.0.1:8765", True),
        ("127.8.9.10", True),
        ("[::1]", True),
        ("[::1]:8765", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:8765", False),
        ("localhost@evil.example", False),
        ("evil.example#localhost", False),
        ("localhost:port", False),
        ("128.0.0.1", False),
        ("[::2]", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_only_loopback_names_are_answered(client, host, answered):
    found = client.get("/search", headers={"Host": host}, q=QUERY)
    assert found.status_code == (200 if answered else 421)
    if not answered:
        error = found.json()["error"]
        assert error["message"] == "the service does not answer for this host"
        assert "--allowed-host" in error["hint"] and error["where"] == (host or None)
    for path in ("/health", "/ready"):
        assert client.get(path, headers={"Host": host}).status_code == 200


def test_pages_and_models_need_an_allowed_host_too(client):
    for path in ("/", "/models", "/metrics", "/openapi.json", "/studio/log.json", "/nothing"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_allowed_hosts(models):
    served = (("vpcg", str(models / "vpcg")),)

    def code(host, *allowed):
        client = in_process(Settings(served, allowed_hosts=allowed))
        return client.get("/models", headers={"Host": host}).status_code

    assert code("Search.Example.com:443", "search.example.com") == 200
    assert code("other.example.com", "search.example.com") == 421
    assert code("10.0.0.5:8765", "a.example", "10.0.0.5") == 200
    assert code("[fe80::1]:80", "fe80::1") == 200
    assert code("anything", "*") == 200
    assert code("localhost", "search.example.com") == 200


def test_other_interfaces_need_names_or_a_key():
    assert hosts_for("127.0.0.1", (), False) == hosts_for("::1", (), True) == ()
    assert hosts_for("0.0.0.0", ("a.example",), False) == ("a.example",)
    assert hosts_for("0.0.0.0", (), True) == ("*",)
    with pytest.raises(UserError, match="host names that it answers for") as caught:
        hosts_for("0.0.0.0", (), False)
    assert "--allowed-host" in caught.value.hint and "--api-key-file" in caught.value.hint


def test_the_address_that_is_listened_on_decides(models, monkeypatch):
    """A name such as that of the machine may mean loopback, or not."""
    served = Settings((("vpcg", str(models / "vpcg")),))
    monkeypatch.setattr(run, "listen", lambda *_: socket.create_server(("0.0.0.0", 0)))
    with pytest.raises(UserError, match="host names"):
        run.run_server(served, "name", 0)


@pytest.mark.parametrize("name", ["http://a.example", "a.example:80", "a b", "", "é"])
def test_what_cannot_be_a_host(name):
    with pytest.raises(UserError, match="is not a host"):
        check_allowed([name])
    assert check_allowed(["a.example", "*", "::1", "[::1]", "10.0.0.1"])


def test_two_hosts_in_one_request_are_refused(client):
    for hosts in (["localhost", "evil.example"], ["evil.example", "localhost"]):
        headers = [("Host", host) for host in hosts]
        assert client("GET", "/models", headers=headers).status_code == 421
