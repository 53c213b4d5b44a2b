from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproof.config.load import iter_keys
from spanproof.config.model import Config, ConfigError, Wal, load_config
from spanproof.config.reference import build_reference

ROOT = Path(__file__).parents[2]


def problems(path: Path | None = None, environ=None, overrides=None, **more) -> list[str]:
    with pytest.raises(ConfigError) as wrong:
        load_config(path, environ or {}, overrides or {}, **more)
    return [str(problem) for problem in wrong.value.problems]


@pytest.fixture
def write(tmp_path):
    def write_file(text: str) -> Path:
        path = tmp_path / "spanproof.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_file


def test_without_anything_the_defaults_hold_and_listen_on_loopback_only() -> None:
    config = load_config(None, {})
    assert config == Config()
    assert (config.receivers.grpc.host, config.receivers.grpc.port) == ("127.0.0.1", 4317)
    assert (config.receivers.http.host, config.receivers.http.port) == ("127.0.0.1", 4318)
    assert config.limits.max_body_bytes == 64 * 1024 * 1024
    assert config.warnings == ()


def test_flags_beat_the_environment_which_beats_the_file(write) -> None:
    path = write("assembly: {quiet_s: 1, orphan_quiet_s: 11, max_wait_s: 111}\n")
    environ = {"SPANPROOF_ASSEMBLY__QUIET_S": "2", "SPANPROOF_ASSEMBLY__ORPHAN_QUIET_S": "12"}
    assembly = load_config(path, environ, {"assembly.quiet_s": "3"}).assembly
    assert (assembly.quiet_s, assembly.orphan_quiet_s, assembly.max_wait_s) == (3, 12, 111)


def test_items_of_lists_are_addressed_by_digits(write) -> None:
    path = write("forward:\n  - endpoint: http://one\n")
    environ = {
        "SPANPROOF_FORWARD__0__HEADERS__authorization": "Bearer x",
        "SPANPROOF_FORWARD__1__ENDPOINT": "https://two:4318/",
        "SPANPROOF_TOKENS": "[a, b]",
    }
    config = load_config(path, environ)
    assert [forward.endpoint for forward in config.forward] == ["http://one", "https://two:4318"]
    assert config.forward[0].headers["authorization"].get_secret_value() == "Bearer x"
    assert [each.token.get_secret_value() for each in config.tokens] == ["a", "b"]


def test_an_unknown_key_names_its_place_and_the_nearest_key(write) -> None:
    path = write("receivers:\n  grpc:\n    prot: 5\nquiet_s: 3\nwal:\n  colour: blue\n")
    assert problems(path) == [
        f"{path}:3: receivers.grpc.prot: unknown key; did you mean 'receivers.grpc.port'?",
        f"{path}:6: wal.colour: unknown key; known here: {', '.join(Wal.model_fields)}",
        f"{path}:4: quiet_s: unknown key; did you mean 'assembly.quiet_s'?",
    ]


def test_unknown_variables_and_flags_are_reported_by_their_own_names() -> None:
    environ = {"SPANPROOF_WAL__DIRECTORI": "x", "SPANPROOF_PROJCT": "y"}
    assert problems(environ=environ, overrides={"store.locaton": "z"}) == [
        "environment SPANPROOF_WAL__DIRECTORI: wal.directori: unknown key; did you mean 'wal.directory'?",
        "--set store.locaton: store.locaton: unknown key; did you mean 'store.location'?",
        "environment SPANPROOF_PROJCT: projct: unknown key; did you mean 'project'?",
    ]


def test_variables_of_the_instrumented_process_are_left_alone() -> None:
    assert load_config(None, {"SPANPROOF_MAX_VALUE_CHARS": "7", "HOME": "/"}) == Config()


def test_every_mistake_is_reported_at_once_with_the_value_that_is_wrong(write) -> None:
    path = write(
        "receivers: {http: {port: 99999}}\n"
        "assembly: {quiet_s: 50, max_wait_s: 40}\n"
        "forward: [{endpoint: 'localhost:4318'}]\n"
    )
    reported = problems(path)
    assert len(reported) == 3
    assert "receivers.http.port" in reported[0]
    assert "got 99999" in reported[0]
    assert "got 50, 150, 40" in reported[1]
    assert "forward.0.endpoint" in reported[2]


def test_a_value_of_another_kind_is_reported_in_the_words_of_the_file(write) -> None:
    path = write(
        "policy: [a]\n"
        "forward: {a: 1}\n"
        "evaluation: {workers: many, layers: correctness, without_code: [3]}\n"
        "wal: {fsync: maybe}\n"
        "judge:\n"
        "tokens: [7]\n"
    )
    assert sorted(problems(path)) == [
        f"{path}:1: policy: expected a path, got a list",
        f"{path}:2: forward: expected a list, got a mapping",
        f"{path}:3: evaluation.layers: expected a list, got 'correctness'",
        f"{path}:3: evaluation.without_code.0: expected a mapping, got 3",
        f"{path}:3: evaluation.workers: expected a whole number, got 'many'",
        f"{path}:4: wal.fsync: expected true or false, got 'maybe'",
        f"{path}:5: judge: expected a section of keys, got nothing",
        f"{path}:6: tokens.0.token: expected text, got a number",
    ]


@pytest.mark.parametrize(
    "price", ["0.4", "[0.4]", "[0.4, 1.6, 3]", "[a, 1]", "[-1, 1]", "[.nan, 1]", "{in: 1}"]
)
def test_a_price_that_is_none_is_reported_with_its_line_and_the_form(write, price) -> None:
    path = write(f"judge:\n  prices:\n    gpt-4.1: [2, 8]\n    mine: {price}\n")
    (reported,) = problems(path)
    assert reported.startswith(
        f"{path}:4: judge.prices.mine: a price is two numbers, US dollars per million tokens in and out, as"
        " in [0.4, 1.6], got "
    )


def test_prices_that_are_no_table_are_reported_with_the_form(write) -> None:
    path = write("judge:\n  prices: [0.4, 1.6]\n")
    assert problems(path) == [f"{path}:2: judge.prices: expected a mapping, got a list"]
    assert load_config(write("judge: {prices: {5: [1, 2]}}\n"), {}, {}).judge.prices == {"5": (1.0, 2.0)}


def test_secrets_are_never_echoed(write) -> None:
    path = write("tokens: [12345]\nforward: [{endpoint: 'http://a', headers: {key: 67890}}]\n")
    reported = " ".join(problems(path))
    assert "12345" not in reported
    assert "67890" not in reported
    config = load_config(None, {"SPANPROOF_TOKENS": "[hush]"})
    assert "hush" not in repr(config) + config.model_dump_json()
    with_dsn = load_config(None, {}, {"store.location": "clickhouse://me:hush@db:8123/spans"})
    assert "hush" not in with_dsn.model_dump_json()
    assert "me:**********@db:8123/spans" in with_dsn.model_dump_json()


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("project: a\nproject: b\n", ":2: project: written twice, first at"),
        ("project: [", "not valid YAML"),
        ("- a\n- b\n", "must hold a mapping"),
        ("project: !!python/object:os.system x\n", "not valid YAML"),
    ],
)
def test_a_file_that_is_no_configuration_is_reported_with_its_line(write, text, reported) -> None:
    assert any(reported in problem for problem in problems(write(text)))


def test_a_missing_file_is_an_error_and_an_empty_one_is_not(tmp_path, write) -> None:
    assert "cannot be read: No such file" in problems(tmp_path / "none.yaml")[0]
    assert load_config(write("# nothing\n"), {}) == Config()


def test_a_flag_into_what_is_no_section_is_reported() -> None:
    assert problems(overrides={"project": "a", "project.b": "c"}) == [
        "--set project.b: project.b: project is not a section"
    ]


def test_alert_rules_are_a_section_like_the_others(write) -> None:
    path = write("alerts:\n  - {name: a, layer: boundary}\n  - nmae: b\n    layer: boundary\n")
    assert problems(path) == [
        f"{path}:3: alerts.1.name: Field required",
        f"{path}:3: alerts.1.nmae: unknown key; did you mean 'alerts.1.name'?",
    ]
    (rule,) = load_config(write("alerts:\n  - {name: a, layer: boundary}\n"), {}).alerts
    assert (rule.layer, rule.window_s, rule.metric) == ("boundary", 3600.0, "boundary.score")
    environ = {"SPANPROOF_ALERTS__0__MIN_COUNT": "0"}
    (problem,) = problems(write("alerts: [{name: a, layer: boundary}]"), environ)
    assert problem == (
        "environment SPANPROOF_ALERTS__0__MIN_COUNT: alerts.0.min_count:"
        " Input should be greater than or equal to 1, got '0'"
    )


OWN = "evaluators: [{name: politeness, source: 'def main(completion): return 1'}]\n"


@pytest.mark.parametrize(
    ("rule", "key", "words"),
    [
        ("layer: trajectory, score: recovry", "score", "did you mean trajectory.recovery?"),
        ("layer: trajectory, score: stable", "score", "did you mean execution.stable?"),
        ("layer: correctness, score: kindness", "score", "there is no score correctness.kindness, and no"),
        ("layer: correctness, score: politness", "score", "did you mean correctness.politeness?"),
        ("layer: correctness, score: politeness", "score", "set pass_at of the evaluator, or fails_when"),
        ("layer: trajectory, score: steps", "fails_when", "trajectory.steps has no verdict: set fails_when"),
        ("layer: execution, score: stable", "fails_when", "no verdict: set fails_when, as in '< 0.5'"),
        ("layer: trajectory, score: steps, fails_when: '>= 0'", "fails_when", "always holds"),
        (
            "layer: trajectory, score: steps_score, fails_when: '> 6'",
            "fails_when",
            "trajectory.steps > 6",
        ),
        ("layer: groundedness, fails_when: '< 85'", "fails_when", "write 85% or 0.85"),
        ("layer: trajectory, score: steps, fails_when: '> 6 s'", "fails_when", "in steps, not in 's'"),
        (
            "layer: trajectory, score: steps, fails_when: '6'",
            "fails_when",
            "'6', column 1: expected",
        ),
        ("layer: trajectory, score: steps, fails_when: '> 6 for all'", "fails_when", "expected the end"),
        ("layer: correctness, score: lint, measure: mean, fires_when: '< 0.5'", "score", "it can never fire"),
        ("layer: correctness, score: tests_pass", "score", "only `spanproof suite run` gives it"),
        ("layer: boundary, score: no_code", "score", "evaluation.without_code names the cohorts"),
        ("layer: boundary, inhibited_by: [b]", "inhibited_by", "there is no rule 'b'"),
        ("layer: boundary, notify: [{url: 'ftp://x'}]", "notify.0.url", "String should match"),
        ("layer: boundary, notify: [{kind: slack}]", "notify.0.url", "Field required"),
        (
            "layer: boundary, notify: [{kind: slack, url: 'http://x', chanel: y}]",
            "notify.0.chanel",
            "unknown key",
        ),
        ("layer: boundary, notify: [{kind: slak}]", "notify.0", "slak"),
        ("layer: boundary, burn_rate: {budget: 0.1, windows: [{long_s: 9}]}", "burn_rate.windows.0", ""),
        (
            "layer: boundary, notify: [{name: a, url: 'http://x'}, {name: a, url: 'http://y'}]",
            "notify.1",
            "'a' is an earlier target with other settings",
        ),
    ],
)
def test_a_rule_that_could_never_fire_is_refused_with_its_place(write, rule, key, words) -> None:
    path = write(f"{OWN}alerts:\n  - {{name: a, {rule}}}\n")
    problem = problems(path)[0]
    assert problem.startswith((f"{path}:3: alerts.0.{key}: ", f"{path}:3: alerts.0.{key}."))
    assert words in problem


def test_a_rule_on_a_layer_that_is_switched_off_is_refused(write) -> None:
    path = write("evaluation: {layers: [boundary]}\nalerts: [{name: a, layer: groundedness}]\n")
    assert problems(path) == [
        f"{path}:2: alerts.0.score: it can never fire: evaluation.layers leaves groundedness out"
    ]


@pytest.mark.parametrize(
    "rule",
    [
        "layer: trajectory, score: recovery",
        "layer: trajectory, score: feedback",
        "layer: groundedness, score: score, fails_when: '< 85%'",
        "layer: trajectory, score: cost_usd, fails_when: '> $0.05'",
        "layer: execution, score: wall_s, fails_when: '> 2min'",
        "layer: correctness, score: politeness, fails_when: '< 0.5'",
        "layer: correctness, score: politeness, measure: error_rate",
        "layer: trajectory, score: steps, measure: p95, fires_when: '> 20 steps'",
        "layer: boundary, burn_rate: {budget: 0.01}, group_by: [agent], lower_bound: true",
    ],
)
def test_a_rule_that_can_fire_is_taken(write, rule) -> None:
    (found,) = load_config(write(f"{OWN}alerts: [{{name: a, {rule}}}]\n"), {}).alerts
    assert found.name == "a"


def test_a_rubric_may_give_a_score_that_is_not_known_otherwise(write, tmp_path) -> None:
    rule = "alerts: [{name: a, layer: correctness, score: kindness}]\n"
    assert load_config(write(f"judge: {{rubrics: {tmp_path}}}\n{rule}"), {}).alerts


def test_listening_to_others_without_a_token_is_warned_about() -> None:
    config = load_config(None, {}, {"receivers.http.host": "0.0.0.0"})
    assert len(config.warnings) == 1
    assert "0.0.0.0" in config.warnings[0]


def test_a_judge_that_is_set_up_without_a_model_is_warned_about() -> None:
    config = load_config(None, {}, {"judge.beside_share": "0.1", "judge.prices": "{m: [1, 2]}"})
    assert config.warnings == ("judge.beside_share is set and judge.model is not: no judge is used",)
    assert load_config(None, {}, {"judge.prices": "{m: [1, 2]}"}).warnings == ()
    named = load_config(None, {}, {"judge.beside_share": "0.1", "judge.model": "m-2026-01-01"})
    assert named.warnings == ()


def test_the_largest_body_must_fit_into_what_is_taken_at_once() -> None:
    assert "at least twice max_body_bytes" in problems(overrides={"limits.max_body_bytes": "200000000"})[0]


def test_one_receiver_may_be_off_but_not_both() -> None:
    assert not load_config(None, {}, {"receivers.grpc.enabled": "false"}).receivers.grpc.enabled
    both = {"receivers.grpc.enabled": "false", "receivers.http.enabled": "no"}
    assert "every receiver is disabled" in problems(overrides=both)[0]


def test_the_configuration_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Config().project = "other"  # type: ignore[misc]


def test_every_key_is_described_and_the_page_is_what_the_model_says() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert page == build_reference(Config), "run: spanproof config reference > docs/configuration.md"
    for key in iter_keys(Config):
        assert f"`{key.replace('*', '<n>')}`" in page


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
_NAMES = st.sampled_from(["receivers", "grpc", "port", "assembly", "quiet_s", "forward", "headers", "1", "x"])
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES | _SCALARS, inner, max_size=3),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=_TREES, key=st.lists(_NAMES, min_size=1, max_size=4).map(".".join), value=st.text(max_size=10))
def test_any_file_and_any_flag_is_a_configuration_or_a_configuration_error(write, tree, key, value) -> None:
    try:
        path = write(yaml.safe_dump(tree))
    except (yaml.YAMLError, ValueError):
        return
    with suppress(ConfigError):
        load_config(path, {}, {key: value})


@given(text=st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_a_configuration_or_a_configuration_error(tmp_path, text) -> None:
    path = tmp_path / "any.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(ConfigError):
        load_config(path, {})


def test_a_file_that_grows_or_has_no_end_is_one_problem(write) -> None:
    grows = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    assert ["more than 100000 values" in each for each in problems(write(grows))] == [True]
    assert ["nested deeper" in each for each in problems(write("[" * 100_000))] == [True]
    assert "cannot be read: /dev/zero has more than" in problems(Path("/dev/zero"))[0]


def test_keys_that_a_merge_overrides_are_written_once(write) -> None:
    text = "alerts:\n- &a {name: a, layer: boundary}\n- {<<: *a, name: b}\n"
    assert [each.name for each in load_config(write(text), {}).alerts] == ["a", "b"]


@pytest.mark.parametrize("file", ["/proc/self/environ", "../secret.py", "link.py"])
def test_an_evaluator_s_file_lies_beside_the_configuration(write, tmp_path, monkeypatch, file) -> None:
    path = write(f"evaluators:\n- {{name: ours, file: {file}}}\n")
    monkeypatch.chdir(path.parent)
    (path.parent / "link.py").symlink_to("/etc/hostname")
    assert any("evaluators.0.file" in each and "lies neither in" in each for each in problems(path))


def test_an_evaluator_s_file_may_lie_in_either_folder(write, tmp_path, monkeypatch) -> None:
    path = write(f"evaluators:\n- {{name: ours, file: {tmp_path / 'ours.py'}}}\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load_config(path, {}).evaluators[0].file == tmp_path / "ours.py"
    path = write("evaluators:\n- {name: ours, file: mine.py}\n")
    assert load_config(path, {}).evaluators[0].file == Path("mine.py")
