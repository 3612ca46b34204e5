"""Which tree a package comes from: real layouts of every kind of install, judged as Python itself imports them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.probes.source_tree import (
    editable_names,
    editable_roots,
    find_package,
    installed_packages,
    package_version,
    probe_paths,
)

FINDER = """from __future__ import annotations
import sys
MAPPING: dict[str, str] = {"demo": "/src/demo/python/demo", "other": "/elsewhere/other"}
NAMESPACES: dict[str, list[str]] = {"demo.plugins": ["/src/demo/python/demo/plugins"]}
raise SystemExit("a finder is parsed, never run")
"""


def existing(root: Path, package: str, directories: list[str]) -> frozenset[str]:
    return frozenset(path for path in probe_paths(package, directories) if Path(path).exists())


def make(folder: Path, *, namespace: bool = False) -> str:
    (folder / "demo").mkdir(parents=True)
    (folder / "demo" / "part.py").write_text("")
    if not namespace:
        (folder / "demo" / "__init__.py").write_text("")
    return str(folder)


def imported_from(directories: list[str]) -> str:
    """Where a real Python finds ``demo.part`` with this search path."""
    script = f"import sys; sys.path[:0] = {directories!r}; import demo.part; print(demo.part.__file__)"
    return subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize(
    "kinds", [("regular", "regular"), ("namespace", "regular"), ("regular", "namespace"), ("none", "regular"), ("none", "namespace")]
)
def test_the_first_regular_package_wins_over_every_namespace_portion(tmp_path: Path, kinds: tuple[str, str]) -> None:
    folders = [str(tmp_path / name) for name in "ab"]
    for folder, kind in zip(folders, kinds, strict=True):
        if kind != "none":
            make(Path(folder), namespace=kind == "namespace")
    found = find_package("demo", folders, existing(tmp_path, "demo", folders))
    assert found is not None
    assert imported_from(folders) == f"{found.root}/demo/part.py"
    assert found.namespace == ("regular" not in kinds)


def test_no_directory_no_package() -> None:
    assert find_package("demo", ["/a"], frozenset()) is None


def test_the_site_is_known_where_the_package_lies_in_one(tmp_path: Path) -> None:
    site = make(tmp_path / "site-packages")
    found = find_package("demo", [site], existing(tmp_path, "demo", [site]), [site])
    assert found is not None and found.site == site


def test_editable_installs_of_every_kind() -> None:
    site = "/v/lib/python3.11/site-packages"
    files = {
        f"{site}/demo-1.0.dist-info/direct_url.json": json.dumps({"url": "file:///src/de%20mo", "dir_info": {"editable": True}}).encode(),
        f"{site}/demo.egg-link": b"/src/egg\n.",
        f"{site}/__editable___demo_1_0_finder.py": FINDER.encode(),
        f"{site}/__editable__.demo-1.0.pth": b"import __editable___demo_1_0_finder; __editable___demo_1_0_finder.install()\n",
        f"{site}/_demo.pth": b"# comment\n/src/pth\n../relative\n\nimport os\n",
    }
    roots = [(found.root, found.site) for found in editable_roots("demo", files)]
    assert roots == [
        ("/src/pth", site),
        ("/v/lib/python3.11/relative", site),
        ("/src/demo/python", site),
        ("/src/egg", site),
        ("/src/de mo", site),
        ("/src/de mo/src", site),
        ("/src/de mo/python", site),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("direct_url.json", b'{"url": "https://example.org/demo.git"}'),
        ("direct_url.json", b'{"url": "file:///src", "dir_info": {}}'),
        ("direct_url.json", b"{broken"),
        ("direct_url.json", b"[]"),
        ("__editable___demo_finder.py", b"MAPPING = compute()"),
        ("__editable___demo_finder.py", b"def broken(:"),
        ("__editable___demo_finder.py", b"MAPPING = {1: 2, 'demo': 3}"),
        ("__editable___demo_finder.py", b"MAPPING = {'demo': '/src/renamed'}"),
        ("demo.egg-link", b""),
        ("x.pth", b"import demo_hook\n"),
    ],
)
def test_what_leads_nowhere_is_no_root(name: str, content: bytes) -> None:
    assert editable_roots("demo", {f"/s/{name}": content}) == ()


@pytest.mark.parametrize(
    ("folder", "layout"),
    [
        ("src", '[tool.setuptools.packages.find]\nwhere = ["src"]\n'),
        ("python", '[tool.setuptools]\npackages = ["demo"]\n[tool.setuptools.package-dir]\ndemo = "python/demo"\n'),
    ],
)
def test_a_real_editable_install_is_understood(tmp_path: Path, folder: str, layout: str) -> None:
    """Made by setuptools, once as a plain path and once as a finder module."""
    project = tmp_path / "project"
    make(project / folder)
    head = '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"\n'
    head += '[project]\nname = "demo"\nversion = "1.0"\n'
    (project / "pyproject.toml").write_text(head + layout)
    site = tmp_path / "site"
    at_hand = ["--no-build-isolation"] if importlib.util.find_spec("setuptools") and importlib.util.find_spec("wheel") else []
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *at_hand, "--target", str(site), "-e", str(project)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"pip cannot make an editable install here: {done.stderr.strip()[-200:]}")
    names = [path.name for path in site.iterdir()]
    wanted = editable_names("demo", {str(site): names})
    files = {path: Path(path).read_bytes() for path in wanted if Path(path).exists()}
    assert str(project / folder) in [found.root for found in editable_roots("demo", files)]
    assert package_version("demo", names) == "1.0"


def test_only_files_that_can_redirect_are_read() -> None:
    entries = {
        "/s": [
            "demo-1.0.dist-info",
            "Demo_X-2.dist-info",
            "other-1.dist-info",
            "a.pth",
            "demo.egg-link",
            "__editable___d_finder.py",
            "x.py",
        ]
    }
    assert editable_names("demo", entries) == (
        "/s/__editable___d_finder.py",
        "/s/a.pth",
        "/s/demo-1.0.dist-info/direct_url.json",
        "/s/demo.egg-link",
    )


def test_versions_from_metadata_names() -> None:
    assert package_version("my.demo", ["my_demo-0.5.10.post1.dist-info", "my_demo_extra-1.dist-info"]) == "0.5.10.post1"
    assert package_version("demo", ["demo-1.0-py3.11.egg-info"]) == "1.0"
    assert package_version("demo", ["demo-1.0.dist-info", "demo-2.0.dist-info"]) == "", "two that disagree are unknown"
    assert package_version("demo", []) == ""
    assert installed_packages(["A_b-1.dist-info", "c-2.0+cu12.dist-info", "x"]) == {"a-b": "1", "c": "2.0+cu12"}
