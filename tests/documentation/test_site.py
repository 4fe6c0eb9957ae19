"""The documentation site: it builds without warnings, loads nothing from elsewhere, and its links work."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("mkdocs", reason="the site needs mkdocs-material: pip install -e '.[dev]'")
pytestmark = pytest.mark.slow  # test_docs.py checks links faster
ROOT = Path(__file__).resolve().parents[2]
RESOURCES = {  # what a browser loads by itself, by tag: its attributes
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}
IN_CSS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.resources, self._in_style = set(), [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids |= {found[key] for key in ("id", "name") if found.get(key)}
        self._in_style = tag == "style"
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag == "link" and set((found.get("rel") or "").split()) & NOT_LOADED:
            return
        self.resources += [found[key] for key in RESOURCES.get(tag, ()) if found.get(key)]
        self.resources += css_resources(found.get("style") or "")

    def handle_data(self, data):
        if self._in_style:
            self.resources += css_resources(data)


def css_resources(text):
    return [one or two for one, two in IN_CSS.findall(text)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_page_is_built_and_searched(site):
    entries = json.loads((site / "search/search_index.json").read_text("utf-8"))["docs"]
    searched = {entry["location"].partition("#")[0] for entry in entries}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (site / page).is_file(), page
        assert page in searched, page
    assert not list(site.rglob("*.py"))


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loaded = [(path, address) for path, page in pages.items() for address in page.resources]
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = re.sub(r"<!--.*?-->", "", path.read_text("utf-8"), flags=re.DOTALL)
        loaded += [(path, address) for address in css_resources(text)]
        if path.suffix == ".svg":
            loaded += [(path, address) for address in Page(text).resources]
    assert len(loaded) > len(pages)
    for path, address in loaded:
        assert not address.startswith("//"), f"{path.name} loads {address}"
        assert urlsplit(address).scheme in ("", "data"), f"{path.name} loads {address}"


def test_links_and_anchors_lead_somewhere(site, pages):
    checked = 0
    for path, page in pages.items():
        for link in [*page.links, *page.resources]:
            address = urlsplit(link)
            if address.scheme or path.name == "404.html":
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.relative_to(site)}: {link}"
            if address.fragment and target in pages:
                assert unquote(address.fragment) in pages[target].ids, f"{path.relative_to(site)}: {link}"
                checked += 1
    assert checked > 100


def test_what_counts_as_loaded():
    page = Page(
        '<link rel="stylesheet" href="https://a/b.css"><link rel="canonical" href="https://c/">'
        '<style>@import "https://d/e.css"; p{background:url(https://f/g.png)}</style>'
        '<img src="h.png"><a id="i" href="https://j/">k</a><p style="background:url(\'l.png\')">'
    )
    assert page.resources == ["https://a/b.css", "https://d/e.css", "https://f/g.png", "h.png", "l.png"]
    assert page.links == ["https://j/"] and page.ids == {"i"}
