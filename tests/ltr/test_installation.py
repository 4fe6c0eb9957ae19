"""Training says what is missing: LightGBM itself, or a library that it needs."""

import sys

import pytest

from coclick.errors import UserError
from coclick.ltr.boosting import check_installed


def test_installed():
    check_installed()


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(UserError, match=r"needs LightGBM(.|\n)*pip install \"coclick\[ltr\]\""):
        check_installed()


def test_cannot_be_loaded(monkeypatch, tmp_path):
    package = tmp_path / "lightgbm"
    package.mkdir()
    text = "libgomp.so.1: cannot open shared object file"
    (package / "__init__.py").write_text(f"raise OSError({text!r})")
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UserError, match=rf"LightGBM cannot be loaded: {text}(.|\n)*libgomp1"):
        check_installed()
