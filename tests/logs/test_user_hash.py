"""The key for user ids: made once, private, the same for all processes; damaged ones are refused."""

import hashlib
import stat
import subprocess
import sys

import pytest

from coclick.errors import UserError
from coclick.logs import user_hash
from coclick.logs.privacy import Privacy


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A configuration directory of our own."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def key_file(home):
    [path] = home.rglob("user_ids.key")
    return path


def test_digests_are_keyed_blake2(home):
    key = bytes(range(32))
    expected = hashlib.blake2b(b"ann", digest_size=16, key=key).hexdigest()
    assert user_hash.hash_names(["ann", "bob"], key)[0] == expected
    assert user_hash.hash_names(["ann"], bytes(32)) != [expected]
    assert user_hash.hash_names(["\ud800"], key)  # a lone surrogate


def test_own_key_is_made_once_and_private(home):
    key = user_hash.load_key(None)
    assert len(key) == 32
    assert user_hash.load_key(None) == key
    assert stat.S_IMODE(key_file(home).stat().st_mode) == 0o600
    assert [path.name for path in key_file(home).parent.iterdir()] == ["user_ids.key"]
    assert user_hash.load_key(key_file(home)) == key


def test_processes_that_make_it_together_get_the_same(home):
    code = "from coclick.logs.user_hash import load_key; print(load_key(None).hex())"
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    keys = {process.communicate()[0] for process in started}
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 64


def test_the_faster_process_wins(home, monkeypatch):
    """Another process makes the key between our look and our link."""
    other = "ab" * 32

    def slow_token(size):
        (home / "config" / "coclick" / "user_ids.key").write_text(other + "\n")
        return "cd" * size

    monkeypatch.setattr(user_hash.secrets, "token_hex", slow_token)
    assert user_hash.load_key(None).hex() == other


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "too short: 0 hex"),
        (b"ab" * 31, "too short: 62 hex"),
        (b"ab" * 65, "too long"),
        (b"z" * 64, "is damaged"),
        (b"ab" * 31 + b"a", "is damaged"),
        (b"\x00\xff" * 40, "is damaged"),
        (b"ab" * 32 + b"\nab", "is damaged"),
    ],
)
def test_a_damaged_key_is_refused(tmp_path, content, message):
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message) as error:
        user_hash.load_key(path)
    assert "openssl rand -hex 32" in str(error.value)
    assert str(path) in str(error.value)
    assert "ab" * 31 not in str(error.value)


def test_a_named_key_must_exist(tmp_path):
    with pytest.raises(UserError, match="cannot be read: No such file"):
        user_hash.load_key(tmp_path / "missing")
    with pytest.raises(UserError, match="cannot be read"):
        user_hash.load_key(tmp_path)


def test_no_place_for_the_own_key(home):
    (home / "config").write_text("a file where the directory should be")
    with pytest.raises(UserError, match="cannot be made") as error:
        user_hash.load_key(None)
    assert "--key-file" in str(error.value)


def test_options_that_do_not_fit(tmp_path):
    with pytest.raises(UserError, match="only used to hash users"):
        Privacy.from_options(None, 1, False, tmp_path / "key")
    (tmp_path / "key").write_text("ab" * 32)
    privacy = Privacy.from_options(None, 1, True, tmp_path / "key")
    assert privacy.key == bytes.fromhex("ab" * 32)
    assert "ab" * 8 not in repr(privacy) and "171" not in repr(privacy)
    with pytest.raises(UserError, match="column for the user"):
        privacy.check_fields({"query", "doc"})
