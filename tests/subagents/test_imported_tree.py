"""Where a live process's package comes from: every kind of install, each compared with what that process's Python would import."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agent.demo.stage import make_environment, standing_in
from agent.domain.errors import NotFoundOnHost
from agent.domain.launch import Launch
from agent.probes.products import Product
from agent.subagents.launch_facts import LaunchFacts, Subject
from tests.subagents.live import desk, product, server, this_machine, write

Layout = Callable[[Path, Path, str], Mapping[str, str]]
"""Lays the package out; gives variables of the environment. Arguments: the process's directory, its site-packages, the package."""


def package(name: str) -> dict[str, str]:
    return {f"{name}/__init__.py": "", f"{name}/server.py": ""}


def in_site(root: Path, site: Path, name: str) -> Mapping[str, str]:
    write(site, {**package(name), f"{name}-1.2.3.dist-info/METADATA": ""})
    return {}


def in_the_directory(root: Path, site: Path, name: str) -> Mapping[str, str]:
    in_site(root, site, name)
    write(root, package(name))
    return {}


def checkout_in_the_directory(root: Path, site: Path, name: str) -> Mapping[str, str]:
    """A repository of the package's name without ``__init__.py``: only a namespace portion, which the real package beats."""
    in_site(root, site, name)
    write(root, {f"{name}/README": ""})
    return {}


def on_python_path(root: Path, site: Path, name: str) -> Mapping[str, str]:
    in_site(root, site, name)
    write(root / "extra", package(name))
    return {"PYTHONPATH": f"{root}/nothing:extra"}


def by_path_file(root: Path, site: Path, name: str) -> Mapping[str, str]:
    write(root / "src", package(name))
    write(site, {"demo.pth": f"{root}/src\n", f"{name}-1.2.3.dist-info/METADATA": ""})
    return {}


def by_finder(root: Path, site: Path, name: str) -> Mapping[str, str]:
    """As setuptools writes it: a meta path finder whose mapping is a literal."""
    write(root / "python", package(name))
    finder = f"""import importlib.util, sys
MAPPING = {{{name!r}: {str(root / "python" / name)!r}}}
class Finder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            place = MAPPING[fullname]
            return importlib.util.spec_from_file_location(fullname, place + "/__init__.py", submodule_search_locations=[place])
def install():
    sys.meta_path.append(Finder)
"""
    write(
        site,
        {
            f"__editable___{name}_finder.py": finder,
            f"__editable__.{name}-1.2.3.pth": f"import __editable___{name}_finder as f; f.install()\n",
        },
    )
    write(site, {f"{name}-1.2.3.dist-info/METADATA": ""})
    return {}


def by_egg_link(root: Path, site: Path, name: str) -> Mapping[str, str]:
    """As ``setup.py develop`` left it; the package's metadata lies in the checkout."""
    write(root / "egg", {**package(name), f"{name}.egg-info/PKG-INFO": f"Name: {name}\nVersion: 1.2.3\n"})
    write(site, {"easy-install.pth": f"{root}/egg\n", f"{name}.egg-link": f"{root}/egg\n."})
    return {}


def by_a_hook_that_computes(root: Path, site: Path, name: str) -> Mapping[str, str]:
    """As build systems of their own kind do it: only direct_url.json says where the checkout is."""
    write(root / "check out" / "src", package(name))
    hook = f"""import importlib.machinery, os, sys
class Hook:
    def find_spec(self, fullname, path=None, target=None):
        if fullname == {name!r}:
            return importlib.machinery.PathFinder.find_spec(fullname, [os.path.join({str(root)!r}, "check" + " " + "out", "src")])
sys.meta_path.insert(0, Hook())
"""
    origin = {"url": f"file://{root}/check%20out", "dir_info": {"editable": True}}
    write(site, {f"_{name}_hook.py": hook, f"_{name}.pth": f"import _{name}_hook\n", f"{name}-1.2.3.dist-info/METADATA": ""})
    write(site, {f"{name}-1.2.3.dist-info/direct_url.json": json.dumps(origin)})
    return {}


LAYOUTS: dict[str, Layout] = {
    "site-packages": in_site,
    "the working directory first": in_the_directory,
    "a checkout without __init__.py": checkout_in_the_directory,
    "PYTHONPATH": on_python_path,
    "a path file": by_path_file,
    "an editable finder": by_finder,
    "an egg link": by_egg_link,
    "a hook that computes": by_a_hook_that_computes,
}


async def find(root: Path, environment: Mapping[str, str], demo: Product) -> Subject:
    with standing_in(root, ("python3", "-m", f"{demo.name}.server"), environment, log=root / "server.log") as pid:
        async with this_machine() as host:
            return await LaunchFacts(pid=pid).run(desk(host, demo))


def really_imported(root: Path, environment: Mapping[str, str], name: str) -> str:
    """What this Python imports when it does not wait."""
    site = next((root / "venv" / "lib").glob("python*")) / "site-packages"
    (site / "stand_in.pth").unlink()
    env = {"PATH": f"{root}/venv/bin:{os.environ['PATH']}", "HOME": str(root), **environment}
    script = f"import {name}.server; print({name}.server.__file__)"
    done = subprocess.run(
        ["python3", "-c", script], executable=root / "venv/bin/python3", env=env, cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("kind", LAYOUTS)
async def test_the_tree_is_the_one_that_is_imported(tmp_path: Path, kind: str) -> None:
    demo = product()
    site = make_environment(tmp_path)
    environment = LAYOUTS[kind](tmp_path, site, demo.name)
    found = await find(tmp_path, environment, demo)
    assert really_imported(tmp_path, environment, demo.name) == f"{found.root}/{demo.name}/server.py"
    assert found.tree.version in ("1.2.3", ""), "the version is that of the metadata beside it, or unknown"
    if kind == "site-packages":
        assert found.tree.version == "1.2.3"


async def test_nowhere_is_said_with_every_place_that_was_asked(tmp_path: Path) -> None:
    demo = product()
    with server(tmp_path, "-m", f"{demo.name}.server") as pid:
        async with this_machine() as host:
            with pytest.raises(NotFoundOnHost) as problem:
                await LaunchFacts(pid=pid).run(desk(host, demo))
    assert f"{tmp_path}/venv/lib" in str(problem.value)
    assert "--tree DIR" in str(problem.value)


async def test_a_given_tree_is_taken_as_it_is(tmp_path: Path) -> None:
    demo = product()
    with server(tmp_path, "-m", f"{demo.name}.server") as pid:
        async with this_machine() as host:
            found = await LaunchFacts(pid=pid, tree="/some/where/").run(desk(host, demo))
    assert (found.root, found.package, found.tree.version, found.tree.evidence) == ("/some/where", demo.name, "", ())


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        (["{0}-1.2.3.dist-info"], "1.2.3"),
        (["{0}-1.2.3.dist-info", "other-9.dist-info"], "1.2.3"),
        (["{0}-1.2.3.dist-info", "{0}-2.dist-info"], ""),
        (["other-9.dist-info"], ""),
    ],
)
async def test_a_given_tree_tells_its_release_like_any_other(tmp_path: Path, metadata: list[str], version: str) -> None:
    demo = product()
    write(tmp_path / "tree", {f"{name.format(demo.name)}/METADATA": "" for name in metadata} | package(demo.name))
    launch = Launch(argv=("python3", "-m", f"{demo.name}.server"))
    async with this_machine() as host:
        at = desk(host, demo)
        found = await LaunchFacts(launch=launch, tree=f"{tmp_path}/tree").run(at)
    assert found.tree.version == version
    assert [one.what for one in at.unknowns] == ([] if version else [f"the version of {demo.name}"])
    (shown,) = at.ledger.only(found.tree.evidence)
    done = subprocess.run(shown.command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == f"{shown.excerpt}\n"
