"""Environments of npm packages: locked by npm, unpacked in the sandbox, no install script ever run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanproof.config.added_evaluators import load_function
from spanproof.config.model import OwnEvaluator
from spanproof.evaluators.custom import Call, Function, evaluate
from spanproof.sandbox import (
    Ecosystem,
    EnvironmentUnavailable,
    Execution,
    Fixtures,
    PackageSet,
    Program,
    Sandbox,
)
from spanproof.sandbox.environments import Environments, read_packages

from .conftest import run_in_build_sandbox


def run(sandbox: Sandbox, source: str, *pins: str, language: str = "javascript") -> Execution:
    packages = PackageSet(Ecosystem.NPM, pins)
    return sandbox.run(Program(language, source, fixtures=Fixtures(packages=packages)))


def says(text: str) -> dict[str, str]:
    return {"package/index.js": f"module.exports = {json.dumps(text)}"}


def test_packages_are_found_by_every_way_of_importing(sandbox: Sandbox, registry) -> None:
    registry.add("alpha", "1.0.0", says("alpha"), {"dependencies": {"@our/beta": "^1.0.0"}})
    registry.add("@our/beta", "1.2.0", says("beta"))
    pins = ("alpha@1.0.0",)
    assert run(sandbox, "console.log(require('alpha'), require('@our/beta'))", *pins).stdout == "alpha beta\n"
    imported = "import alpha from 'alpha'; import beta from '@our/beta'; console.log(alpha, beta)"
    assert run(sandbox, imported, *pins).stdout == "alpha beta\n"
    assert (
        run(sandbox, f"const x: number = 1;\n{imported}", *pins, language="typescript").stdout
        == "alpha beta\n"
    )
    script = "console.log(require('alpha'))"
    written = f'require("fs").writeFileSync("x.js", "{script}"); require(process.cwd() + "/x.js")'
    assert run(sandbox, written, *pins).stdout == "alpha\n"


def test_two_versions_of_a_package_lie_where_the_lock_says(sandbox: Sandbox, registry) -> None:
    registry.add("alpha", "1.0.0", {"package/index.js": "module.exports = require('beta')"},
                 {"dependencies": {"beta": "1.0.0"}})  # fmt: skip
    registry.add("beta", "1.0.0", says("old"))
    registry.add("beta", "2.0.0", says("new"))
    execution = run(sandbox, "console.log(require('alpha'), require('beta'))", "alpha@1.0.0", "beta@2.0.0")
    assert execution.stdout == "old new\n"


def test_no_install_script_runs(sandbox: Sandbox, registry, tmp_path: Path) -> None:
    strike = f"node -e \"require('fs').writeFileSync('{tmp_path}/canary', '')\""
    scripts = {"preinstall": strike, "install": strike, "postinstall": strike, "prepare": strike}
    registry.add("alpha", "1.0.0", says("alpha"), {"scripts": scripts})
    assert run(sandbox, "console.log(require('alpha'))", "alpha@1.0.0").stdout == "alpha\n"
    assert not (tmp_path / "canary").exists()


def test_what_leads_out_of_a_tarball_is_left_out(sandbox: Sandbox, registry, directory: Path) -> None:
    files = {
        **says("alpha"),
        "package/../../evil.js": "x",
        "../evil.js": "x",
        "package/a/../../../evil.js": "x",
    }
    registry.add("alpha", "1.0.0", files)
    assert run(sandbox, "console.log(require('alpha'))", "alpha@1.0.0").stdout == "alpha\n"
    assert not list(directory.rglob("evil.js"))


def test_a_package_for_another_system_is_left_out_where_it_is_optional(sandbox: Sandbox, registry) -> None:
    registry.add("alpha", "1.0.0", says("alpha"), {"optionalDependencies": {"for-others": "1.0.0"}})
    registry.add("for-others", "1.0.0", says("no"), {"os": ["win32"]})
    source = "console.log(require('alpha')); try { require('for-others') } catch (e) { console.log(e.code) }"
    assert run(sandbox, source, "alpha@1.0.0").stdout == "alpha\nMODULE_NOT_FOUND\n"


def test_a_lock_file_is_the_lock(sandbox: Sandbox, registry, tmp_path: Path) -> None:
    registry.add("alpha", "1.0.0", {"package/index.js": "module.exports = require('beta')"},
                 {"dependencies": {"beta": "^1.0.0"}})  # fmt: skip
    registry.add("beta", "1.0.0", says("first"))
    with pytest.raises(EnvironmentUnavailable):
        run(sandbox, "1", "alpha@9.9.9")
    wanted = read_packages(_lock_file(registry, tmp_path, {"alpha": "1.0.0"}))
    registry.add("beta", "1.1.0", says("second"))
    Environments(run_in_build_sandbox).get_lease(wanted).close()
    assert wanted.packages == PackageSet(Ecosystem.NPM, ("alpha@1.0.0",))
    assert run(sandbox, "console.log(require('alpha'))", "alpha@1.0.0").stdout == "first\n"


def test_what_cannot_be_had_is_named(sandbox: Sandbox, registry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.add("alpha", "1.0.0", says("alpha"))
    for pin, word in (
        ("absent@1.0.0", "absent"),
        ("alpha@2.0.0", r"alpha@2\.0\.0"),
        ("alpha@^1.0.0", "not exact"),
    ):
        with pytest.raises(EnvironmentUnavailable, match=word):
            run(sandbox, "1", pin)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    with pytest.raises(EnvironmentUnavailable, match="cannot be reached"):
        run(sandbox, "1", "alpha@1.0.0")


def _lock_file(registry, directory: Path, dependencies: dict[str, str]) -> Path:
    from spanproof.sandbox.environments.npm import build_lock

    pins = tuple(f"{name}@{version}" for name, version in dependencies.items())
    build_lock(PackageSet(Ecosystem.NPM, pins), directory)
    return directory / "package-lock.json"


def test_a_seed_evaluator_with_lodash_runs_as_written(sandbox: Sandbox, registry) -> None:
    # In lodash's own form: exports that no reader of the syntax finds.
    module = (
        "var free = module; (free.exports = {isEqual: (a, b) => JSON.stringify(a) === JSON.stringify(b)})"
    )
    registry.add("lodash", "4.17.21", {"package/index.js": module})
    source = (
        'import * as _ from "lodash";\n\nexport function main(completion: string, target: string): number {\n'
        "    return _.isEqual(JSON.parse(completion), JSON.parse(target)) ? 1 : 0;\n}\n"
    )
    function = load_function(OwnEvaluator(name="same", source=source, language="typescript", timeout_s=60))
    assert isinstance(function, Function)
    same, other = evaluate(function, [Call("[1, 2]", "[1,2]"), Call("[1]", "[2]")], sandbox)
    assert (same.score, other.score) == (1.0, 0.0), (same, other)
