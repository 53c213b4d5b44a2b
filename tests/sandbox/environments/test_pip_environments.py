"""Environments of wheels: built once, locked, shared, read-only, and no code of a package runs outside."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spanproof.sandbox import (
    Ecosystem,
    EnvironmentUnavailable,
    Execution,
    FailureClass,
    Fixtures,
    PackageSet,
    Program,
    Sandbox,
    SessionSpec,
    ToolAnswer,
    UnsupportedFixtures,
)
from spanproof.sandbox.environments import Environments, Lock, Store, Wanted
from spanproof.sandbox.registry import open_sandbox

from .conftest import TIER, Wheels, run_in_build_sandbox

SHOW = "import alpha, beta; print(alpha.VERSION, beta.VERSION)"


def run(sandbox: Sandbox, source: str, *pins: str, language: str = "python") -> Execution:
    packages = PackageSet(Ecosystem.PIP, pins)
    return sandbox.run(Program(language, source, fixtures=Fixtures(packages=packages)))


def package(name: str, version: str) -> dict[str, str]:
    return {f"{name}/__init__.py": f"VERSION = {version!r}\n"}


def add_both(wheels: Wheels) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"), needs=("beta>=1",))
    wheels.add("beta", "1.0", package("beta", "1.0"))
    wheels.add("beta", "2.0", package("beta", "2.0"))


def images(directory: Path) -> list[Path]:
    return [path for path in (directory / "images").glob("*") if path.is_dir()]


def test_a_set_is_built_with_what_it_needs_and_is_there_from_then_on(
    sandbox: Sandbox, wheels: Wheels, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    add_both(wheels)
    assert run(sandbox, SHOW, "alpha==1.0").stdout == "1.0 2.0\n"
    assert "building an environment, once: alpha==1.0" in caplog.text
    caplog.clear()
    shutil.rmtree(wheels.directory)  # neither pip nor an index is used again
    assert run(sandbox, SHOW, "alpha==1.0").stdout == "1.0 2.0\n"
    with open_sandbox("jail", settings={"tier": TIER}) as another:
        assert run(another, SHOW, "alpha==1.0").stdout == "1.0 2.0\n"
    assert not caplog.records
    assert len(images(directory)) == 1
    assert not [path for path in (directory / "building").iterdir() if path.is_dir()]


def test_a_lock_outlives_its_image(sandbox: Sandbox, wheels: Wheels, directory: Path) -> None:
    add_both(wheels)
    run(sandbox, SHOW, "alpha==1.0")
    sandbox.close()
    (image,) = images(directory)
    assert [one.key for one in Store().run_prune(unused_s=0, max_bytes=0)] == [image.name]
    wheels.add("beta", "3.0", package("beta", "3.0"))
    with open_sandbox("jail", settings={"tier": TIER}) as another:
        assert run(another, SHOW, "alpha==1.0").stdout == "1.0 2.0\n"
    assert images(directory) == [image]


def test_other_content_than_what_was_locked_is_refused(
    sandbox: Sandbox, wheels: Wheels, directory: Path
) -> None:
    add_both(wheels)
    run(sandbox, SHOW, "alpha==1.0")
    sandbox.close()
    Store().run_prune(unused_s=0, max_bytes=0)
    wheels.add("beta", "2.0", package("beta", "changed"))
    with (
        open_sandbox() as another,
        pytest.raises(EnvironmentUnavailable, match="not the one that was locked"),
    ):
        run(another, SHOW, "alpha==1.0")
    assert not images(directory)


def test_a_set_takes_the_place_of_the_interpreter_s_packages(sandbox: Sandbox, wheels: Wheels) -> None:
    wheels.add("idna", "0.1", package("idna", "0.1"))
    source = "import idna; print(idna.VERSION)\nimport pandas"
    execution = run(sandbox, source, "idna==0.1")
    assert (execution.stdout, execution.failure_class) == ("0.1\n", FailureClass.MISSING_DEPENDENCY)
    shell = "python -c 'import idna; print(idna.VERSION)'"
    assert run(sandbox, shell, "idna==0.1", language="bash").stdout == "0.1\n"
    assert sandbox.run(Program("python", "import idna; print(hasattr(idna, 'VERSION'))")).stdout == "False\n"


def test_an_image_cannot_be_changed_from_inside(sandbox: Sandbox, wheels: Wheels, directory: Path) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    for deed in ("open(alpha.__file__, 'a')", "os.unlink(alpha.__file__)", "os.chmod(alpha.__file__, 0)"):
        execution = run(sandbox, f"import alpha, os; {deed}", "alpha==1.0")
        assert execution.failure_class is FailureClass.PERMISSION_DENIED, execution
    assert run(sandbox, "import alpha; print(alpha.VERSION)", "alpha==1.0").stdout == "1.0\n"


def test_sessions_have_environments_too(sandbox: Sandbox, wheels: Wheels) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    spec = SessionSpec(fixtures=Fixtures(packages=PackageSet(Ecosystem.PIP, ("alpha==1.0",))))
    with sandbox.session(spec, lambda request: ToolAnswer()) as session:
        assert session.execute("import alpha; alpha.VERSION").result == "1.0"


def test_interpreters_of_sets_make_room_for_each_other(
    sandbox: Sandbox, wheels: Wheels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanproof.sandbox.backends.jail.pool._ENVIRONMENTS", 1)
    for number in (1, 2):
        wheels.add("alpha", f"{number}.0", package("alpha", str(number)))
    for number in (1, 2, 1):
        assert (
            run(sandbox, "import alpha; print(alpha.VERSION)", f"alpha=={number}.0").stdout == f"{number}\n"
        )


def test_no_code_of_a_package_runs_while_it_is_built(
    sandbox: Sandbox, wheels: Wheels, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    strike = f"open({str(canary)!r}, 'w')\nopen('/image/canary', 'w')\n"
    files = {"alpha/__init__.py": strike, "alpha.pth": f"import os; {strike}", "sitecustomize.py": strike}
    wheels.add("alpha", "1.0", files)
    run(sandbox, "print(1)", "alpha==1.0")
    assert not canary.exists()
    lease = Environments(run_in_build_sandbox).get_lease(PackageSet(Ecosystem.PIP, ("alpha==1.0",)))
    assert sorted(path.name for path in lease.path.iterdir()) == ["lock.json", "site"]
    lease.close()


def test_a_source_archive_is_never_run(sandbox: Sandbox, wheels: Wheels, tmp_path: Path) -> None:
    import tarfile

    source = tmp_path / "alpha-1.0"
    source.mkdir()
    (source / "setup.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')")
    (source / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: alpha\nVersion: 1.0\n")
    with tarfile.open(wheels.directory / "alpha-1.0.tar.gz", "w:gz") as tar:
        tar.add(source, "alpha-1.0")
    with pytest.raises(EnvironmentUnavailable, match=r"alpha==1\.0.*wheel"):
        run(sandbox, "print(1)", "alpha==1.0")
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("name", ["../../evil.py", "/tmp/evil.py", "alpha/../../../evil.py"])
def test_a_wheel_that_reaches_out_of_its_place_is_refused(
    sandbox: Sandbox, wheels: Wheels, directory: Path, tmp_path: Path, name: str
) -> None:
    wheels.add("alpha", "1.0", {**package("alpha", "1.0"), name: "x"})
    with pytest.raises(EnvironmentUnavailable, match="could not be unpacked"):
        run(sandbox, "print(1)", "alpha==1.0")
    assert not images(directory)
    assert not [*tmp_path.rglob("evil.py"), *directory.parent.rglob("evil.py")]
    assert not Path("/tmp/evil.py").exists()


def test_a_broken_wheel_leaves_nothing(sandbox: Sandbox, wheels: Wheels, directory: Path) -> None:
    path = wheels.add("alpha", "1.0", {"alpha/__init__.py": "x" * 10_000})
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(EnvironmentUnavailable):
        run(sandbox, "print(1)", "alpha==1.0")
    assert not list((directory / "locks").glob("*.json"))
    assert not [path for path in (directory / "building").iterdir() if path.is_dir()]


def test_those_who_ask_at_once_share_one_build(
    wheels: Wheels, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    wanted = PackageSet(Ecosystem.PIP, ("alpha==1.0",))
    with ThreadPoolExecutor(4) as pool:
        leases = list(pool.map(lambda _n: Environments(run_in_build_sandbox).get_lease(wanted), range(4)))
    assert len({lease.path for lease in leases}) == 1
    assert sum("once" in record.message for record in caplog.records) == 1
    for lease in leases:
        lease.close()


def test_an_image_in_use_is_not_removed(sandbox: Sandbox, wheels: Wheels, directory: Path) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    run(sandbox, "print(1)", "alpha==1.0")
    assert Store().run_prune(unused_s=0, max_bytes=0) == []
    assert run(sandbox, "import alpha", "alpha==1.0").failure_class is FailureClass.OK
    sandbox.close()
    assert len(Store().run_prune(unused_s=0, max_bytes=0)) == 1
    assert not images(directory)


def test_a_prune_goes_on_where_one_was_killed(directory: Path, tmp_path: Path) -> None:
    store = Store()
    lock = Lock(Ecosystem.PIP, "cpython", "linux", ("alpha==1",), ())
    for half_removed in (False, True):
        (tmp_path / "built").mkdir()
        store.add(tmp_path / "built", lock).close()
        if half_removed:
            (directory / "building" / f"{lock.key}.trash").mkdir()
            (directory / "building" / f"{lock.key}.trash" / "left").touch()
        assert len(store.run_prune(unused_s=0, max_bytes=0)) == 1
    assert not images(directory)


def test_the_longest_unused_go_first_and_only_as_many_as_must(directory: Path, tmp_path: Path) -> None:
    store = Store()
    for age in range(3):
        built = tmp_path / str(age)
        built.mkdir()
        (built / "content").write_text("#" * 1000)
        lock = Lock(Ecosystem.PIP, "cpython", "linux", (f"alpha=={age}",), ())
        store.add(built, lock).close()
        os.utime(directory / "images" / f"{lock.key}.use", (0, 1e9 - age))
    before = store.list_images()
    removed = store.run_prune(unused_s=1e12, max_bytes=sum(image.size_bytes for image in before) - 1)
    assert [image.lock.pins for image in before] == [("alpha==0",), ("alpha==1",), ("alpha==2",)]
    assert removed == before[-1:]
    assert store.run_prune(unused_s=1e12, max_bytes=1 << 40) == []
    assert len(store.run_prune(unused_s=1e6, max_bytes=1 << 40)) == 2


WRONG = [
    ("alpha", "not exact"),
    ("alpha>=1", "not exact"),
    ("alpha==1.*", "not exact"),
    ("-r /etc/passwd", "not exact"),
    ("alpha==1.0 --index-url x", "not exact"),
    ("alpha @ file:///etc", "not exact"),
    ("absent==1.0", "absent==1.0"),
    ("beta==9.0", "beta==9.0"),
]


@pytest.mark.parametrize(("pin", "word"), WRONG)
def test_a_pin_that_cannot_be_had_is_named(sandbox: Sandbox, wheels: Wheels, pin: str, word: str) -> None:
    add_both(wheels)
    with pytest.raises(EnvironmentUnavailable, match=word):
        run(sandbox, "print(1)", pin)


def test_pins_that_do_not_go_together_are_reported(sandbox: Sandbox, wheels: Wheels) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"), needs=("beta==1.0",))
    wheels.add("beta", "1.0", package("beta", "1.0"))
    wheels.add("beta", "2.0", package("beta", "2.0"))
    with pytest.raises(EnvironmentUnavailable, match=r"do not go together.*beta"):
        run(sandbox, "print(1)", "alpha==1.0", "beta==2.0")
    with pytest.raises(EnvironmentUnavailable, match="disagree"):
        run(sandbox, "print(1)", "Be.ta==1.0", "be-ta==2.0")
    with pytest.raises(EnvironmentUnavailable, match="at least one pin"):
        run(sandbox, "print(1)")


def test_an_index_out_of_reach_is_reported_as_such(
    sandbox: Sandbox, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(EnvironmentUnavailable, match="cannot be reached"):
        run(sandbox, "print(1)", "alpha==1.0")


def test_a_full_disk_is_reported_as_such(wheels: Wheels, directory: Path) -> None:
    def full(program: Program, archives: Path, image: Path) -> Execution:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    with pytest.raises(EnvironmentUnavailable, match=r"No space left.*prune"):
        Environments(full).get_lease(PackageSet(Ecosystem.PIP, ("alpha==1.0",)))


def test_a_place_that_cannot_be_written_is_reported(
    sandbox: Sandbox, wheels: Wheels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    (tmp_path / "file").write_text("")
    environments = Environments(run_in_build_sandbox, Store(tmp_path / "file" / "x"))
    with pytest.raises(EnvironmentUnavailable, match="SPANPROOF_ENVIRONMENTS"):
        environments.get_lease(PackageSet(Ecosystem.PIP, ("alpha==1.0",)))


def test_hashes_of_a_file_are_held(wheels: Wheels, directory: Path) -> None:
    path = wheels.add("alpha", "1.0", package("alpha", "1.0"))
    packages = PackageSet(Ecosystem.PIP, ("alpha==1.0",))
    environments = Environments(run_in_build_sandbox)
    with pytest.raises(EnvironmentUnavailable, match="none of the hashes"):
        environments.get_lease(Wanted(packages, {"alpha": frozenset({"0" * 64})}))
    good = hashlib.sha256(path.read_bytes()).hexdigest()
    environments.get_lease(Wanted(packages, {"alpha": frozenset({good})})).close()
    with pytest.raises(EnvironmentUnavailable, match="none of the hashes"):
        environments.get_lease(Wanted(packages, {"alpha": frozenset({"0" * 64})}))


def test_sql_takes_no_packages(sandbox: Sandbox) -> None:
    with pytest.raises(UnsupportedFixtures, match="SQL"):
        run(sandbox, "select 1", "alpha==1.0", language="sql")


@pytest.mark.install
def test_a_package_of_the_public_index_is_built(sandbox: Sandbox) -> None:
    assert run(sandbox, "import six; print(six.__version__)", "six==1.17.0").stdout == "1.17.0\n"


def test_leases_of_one_image_do_not_wait_for_each_other(wheels: Wheels, directory: Path) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    environments = Environments(run_in_build_sandbox)
    wanted = PackageSet(Ecosystem.PIP, ("alpha==1.0",))
    first = environments.get_lease(wanted)
    found = []
    thread = threading.Thread(target=lambda: found.append(environments.get_lease(wanted)))
    thread.start()
    thread.join(30)
    assert found
    first.close()
    first.close()
    found[0].close()


def test_a_directory_carried_here_is_used_though_it_cannot_be_written(
    wheels: Wheels, directory: Path, tmp_path: Path
) -> None:
    wheels.add("alpha", "1.0", package("alpha", "1.0"))
    wanted = PackageSet(Ecosystem.PIP, ("alpha==1.0",))
    Environments(run_in_build_sandbox).get_lease(wanted).close()
    for use in directory.glob("images/*.use"):
        use.unlink()
    carried = tmp_path / "carried"
    carried.mkdir()
    script = f"mount --bind {directory} {carried} && mount -o remount,bind,ro {carried}"
    source = f"""
from pathlib import Path
from spanproof.sandbox import Ecosystem, PackageSet
from spanproof.sandbox.environments import Environments, Store
environments = Environments(None, Store(Path({str(carried)!r})))
lease = environments.get_lease(PackageSet(Ecosystem.PIP, ("alpha==1.0",)))
print((lease.path / "site" / "alpha" / "__init__.py").read_text())
"""
    command = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        f'{script} && exec {shlex.quote(sys.executable)} -c "$0"',
        source,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "VERSION" in done.stdout, done.stderr


AS_USER = """
import os, sys
from spanproof.sandbox import Ecosystem, Fixtures, PackageSet, Program
from spanproof.sandbox.registry import open_sandbox
fixtures = Fixtures(packages=PackageSet(Ecosystem.PIP, ("alpha==1.0",)))
with open_sandbox() as sandbox:
    source = "import alpha; print(alpha.VERSION); open(alpha.__file__, 'a')"
    execution = sandbox.run(Program("python", source, fixtures=fixtures))
    print(os.geteuid(), execution.stdout, execution.failure_class)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="the other tests run as a user then")
def test_a_user_without_rights_builds_and_uses_them_too() -> None:
    unprivileged = Path(__file__).parents[2] / "hostile" / "unprivileged.py"
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        Wheels(Path(place)).add("alpha", "1.0", package("alpha", "1.0"))
        environment = {
            **os.environ,
            "HOME": place,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": place,
            "SPANPROOF_ENVIRONMENTS": f"{place}/environments",
        }
        command = [sys.executable, str(unprivileged), sys.executable, "-c", AS_USER]
        done = subprocess.run(
            command, env=environment, cwd=place, capture_output=True, text=True, check=False
        )
        assert done.stdout.split() == ["65534", "1.0", "permission_denied"], done.stderr
