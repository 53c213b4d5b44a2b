"""The catalogue of rules: what each means, how grave it is, what it asks for, what to do instead.

A rule id is `family.what` or `language.family.what`; the same boundary rule holds in every language, so the
catalogue keeps it once, without the language. `docs/scanners.md` explains each entry; a test compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanproof.sandbox.scanners.model import Severity, Verdict

_DENY, _REVIEW, _ADVISORY = Verdict.DENY, Verdict.REVIEW, Verdict.ALLOW
_CRITICAL, _HIGH, _MEDIUM, _LOW = Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW
_NOTE = Severity.ADVISORY

_LANGUAGES = ("python.", "shell.", "sql.", "javascript.")


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry: `verdict` is what a finding of this rule asks for unless its place says otherwise."""

    severity: Severity
    verdict: Verdict
    remedy: str
    cwe: int | None = None


def _weak(cwe: int, remedy: str) -> Rule:
    return Rule(_NOTE, _ADVISORY, remedy, cwe)


WEAKNESSES: Final[dict[str, Rule]] = {
    "weakness.path-from-input": _weak(22, "Resolve the path and test it with is_relative_to(root)."),
    "weakness.archive-extraction": _weak(22, "Extract with filter='data'."),
    "weakness.shell-command": _weak(78, "Pass a list of arguments, without a shell."),
    "weakness.markup": _weak(79, "Let the template engine escape values."),
    "weakness.sql-text": _weak(89, "Pass values as parameters of the statement."),
    "weakness.code-from-text": _weak(94, "Use ast.literal_eval or a table of functions."),
    "weakness.certificate": _weak(295, "Verify certificates and host names."),
    "weakness.cipher": _weak(327, "Use AES-GCM or ChaCha20-Poly1305, and TLS 1.2 or later."),
    "weakness.hash": _weak(328, "Use SHA-256; for passwords scrypt or argon2."),
    "weakness.predictable": _weak(330, "Take secrets from the secrets module, never from the clock."),
    "weakness.random": _weak(338, "Take secrets from the secrets module."),
    "weakness.temporary-file": _weak(377, "Use tempfile.mkstemp or NamedTemporaryFile."),
    "weakness.debug": _weak(489, "Leave debug mode off."),
    "weakness.deserialisation": _weak(502, "Load data with json, or with a loader that builds no objects."),
    "weakness.redirect": _weak(601, "Redirect to addresses of a list only."),
    "weakness.entities": _weak(611, "Parse with defusedxml, or leave entities unresolved."),
    "weakness.permissions": _weak(732, "Give write permission to the owner alone."),
    "weakness.credential": _weak(798, "Read the credential from a store outside the code."),
}
"""Weaknesses of the CWE list, without their language."""

_PATH = "Use a path relative to the work directory, or add its root to the policy."
_HOST = "Use a host the policy names, or add it to `hosts`."
_SANDBOX = "Write the value out, or let the sandbox settle it."

RULES: Final[dict[str, Rule]] = {
    # --- the boundary, in every language
    "file.read-outside": Rule(_HIGH, _DENY, _PATH),
    "file.write-outside": Rule(_CRITICAL, _DENY, _PATH),
    "file.delete-outside": Rule(_CRITICAL, _DENY, _PATH),
    "file.delete-root": Rule(_CRITICAL, _DENY, "Name the files to remove, not the directory that holds all."),
    "file.permission-outside": Rule(_HIGH, _DENY, _PATH),
    "file.device": Rule(_CRITICAL, _DENY, "Leave devices and kernel interfaces alone."),
    "file.dynamic": Rule(_LOW, _REVIEW, _SANDBOX),
    "network.host": Rule(_HIGH, _DENY, _HOST),
    "network.port": Rule(_HIGH, _DENY, "Use a port the policy names, or add it to `ports`."),
    "network.metadata": Rule(_CRITICAL, _DENY, "Never address a cloud's metadata service from a snippet."),
    "network.listen": Rule(_HIGH, _DENY, "Return the data instead of serving it."),
    "network.dynamic": Rule(_MEDIUM, _REVIEW, _SANDBOX),
    "network.implicit": Rule(_LOW, _REVIEW, "Load the data from a file in the work directory."),
    "network.raw": Rule(_HIGH, _DENY, "Use an HTTP client with a host the policy names."),
    "environment.read": Rule(
        _HIGH, _DENY, "Pass the value in as an argument, or name the variable in the policy."
    ),
    "environment.write": Rule(_MEDIUM, _REVIEW, "Leave variables that change how programs load alone."),
    "process.start": Rule(_HIGH, _DENY, "Use a library call instead of another program."),
    "process.signal": Rule(_CRITICAL, _DENY, "Never signal processes the snippet did not start."),
    "process.inspect": Rule(_HIGH, _DENY, "Leave the host's processes and resources alone."),
    "process.fork": Rule(_HIGH, _DENY, "Use threads or a process pool."),
    "process.shell": Rule(_CRITICAL, _DENY, "Never connect a shell to the network."),
    "privilege.change": Rule(_CRITICAL, _DENY, "Run as the user the sandbox gives."),
    "system.change": Rule(_CRITICAL, _DENY, "Leave users, services, mounts and the machine's state alone."),
    "command.denied": Rule(_HIGH, _DENY, "Leave this program out, or allow it in the policy."),
    "command.unknown": Rule(_LOW, _REVIEW, "Allow the program in the policy if the agent needs it."),
    "command.dynamic": Rule(_MEDIUM, _REVIEW, _SANDBOX),
    "command.install": Rule(_MEDIUM, _REVIEW, "Put what the agent needs into the sandbox's image."),
    "module.denied": Rule(_HIGH, _DENY, "Leave this module out, or take it off `denied_modules`."),
    "module.odd": Rule(_LOW, _REVIEW, "Remove the import if nothing uses it."),
    "module.unlisted": Rule(_LOW, _REVIEW, "Add the module to `allowed_modules` if the agent needs it."),
    "call.denied": Rule(_HIGH, _DENY, "Leave this call out, or take it off `denied_calls`."),
    "exec.download": Rule(_CRITICAL, _DENY, "Never run what was just downloaded."),
    "exec.dynamic": Rule(_MEDIUM, _REVIEW, "Write the code out, or use ast.literal_eval for data."),
    "exec.payload": Rule(_CRITICAL, _DENY, "Write code out; text that hides code is not run."),
    "exec.native": Rule(_CRITICAL, _DENY, "Leave native code and foreign memory alone."),
    "escape.dunder": Rule(
        _CRITICAL, _DENY, "Use names, not the interpreter's internals, to reach a function."
    ),
    "escape.internals": Rule(
        _MEDIUM, _REVIEW, "Use names, not the interpreter's internals, to reach a function."
    ),
    "attribute.dynamic": Rule(_MEDIUM, _REVIEW, "Name the attribute."),
    "deserialize.code": Rule(_CRITICAL, _DENY, "Load data with json; a pickle can call any function."),
    "deserialize.untrusted": Rule(_MEDIUM, _REVIEW, "Load data with json or parquet."),
    "flow.secret-to-network": Rule(_CRITICAL, _DENY, "Never send secrets out."),
    "flow.file-to-network": Rule(_NOTE, _ADVISORY, "Send only what the task needs."),
    "syntax": Rule(_LOW, _REVIEW, "Mend the syntax; only what parses can be judged."),
    "too-deep": Rule(_HIGH, _DENY, "Write the code in steps; nesting this deep cannot be judged."),
    "too-complex": Rule(_MEDIUM, _REVIEW, "Write the code in smaller steps."),
    # --- SQL
    "statement.denied": Rule(_HIGH, _DENY, "Use a statement `sql_verbs` allows, or add the verb there."),
    "statement.schema": Rule(_HIGH, _DENY, "Leave the schema alone, or allow the verb in `sql_verbs`."),
    "statement.privilege": Rule(_CRITICAL, _DENY, "Leave users and rights alone."),
    "statement.unbounded": Rule(_CRITICAL, _DENY, "Give the statement a WHERE clause."),
    "statement.several": Rule(_MEDIUM, _REVIEW, "Send one statement at a time."),
    "statement.unknown": Rule(_LOW, _REVIEW, "Use standard SQL, or let the sandbox settle it."),
    "table.unlisted": Rule(_HIGH, _DENY, "Use a table `sql_tables` names, or add it there."),
    "function.outside": Rule(
        _CRITICAL, _DENY, "Leave functions that reach files, programs or the network alone."
    ),
    "query.dynamic": Rule(_NOTE, _ADVISORY, "Pass values as parameters (CWE-89).", 89),
    # --- any text
    "secret.provider": Rule(_CRITICAL, _DENY, "Revoke it, and hand secrets over outside the code."),
    "secret.private-key": Rule(_CRITICAL, _DENY, "Revoke it, and hand keys over outside the code."),
    "secret.assigned": Rule(_MEDIUM, _ADVISORY, "Hand secrets over outside the code (CWE-798).", 798),
    "secret.entropy": Rule(_NOTE, _ADVISORY, "If this is a secret, hand it over outside the code."),
    "url.userinfo": Rule(_HIGH, _DENY, "Never put a user name or password into a URL."),
    "url.scheme": Rule(_MEDIUM, _REVIEW, "Use https."),
    "url.raw-ip": Rule(_NOTE, _ADVISORY, "Use a host name the policy can judge."),
    "url.punycode": Rule(_MEDIUM, _REVIEW, "Use a host name in plain letters."),
    "text.bidirectional": Rule(
        _HIGH, _DENY, "Remove the character; it shows the code in another order than it runs."
    ),
    "text.invisible": Rule(_MEDIUM, _REVIEW, "Remove the invisible character."),
    "text.confusable": Rule(_MEDIUM, _REVIEW, "Write the name in one script."),
    "text.control": Rule(_MEDIUM, _REVIEW, "Remove the control character."),
    # --- text for a model
    "prompt.injection": Rule(_MEDIUM, _REVIEW, "Hand the text on as data, not as instructions."),
    "prompt.jailbreak": Rule(_MEDIUM, _REVIEW, "Hand the text on as data, not as instructions."),
    # --- weaknesses of generated code, which never change a verdict
    **WEAKNESSES,
    # --- the gate itself
    "language.denied": Rule(_HIGH, _DENY, "Write it in a language that `languages` names, or add it there."),
    "language.unscanned": Rule(
        _LOW, _REVIEW, "Use a language a scanner reads, or let the sandbox settle it."
    ),
    "source.too-large": Rule(_HIGH, _DENY, "Split the source; what is larger is not judged."),
    "scanner_error": Rule(_HIGH, _DENY, "Install the parser the message names, or report this snippet."),
}
"""Rule id, without its language, to its entry."""


_SECTIONS: Final = {"secret.": "secret.provider", "topic.": "topics", "bandit.": "bandit"}
"""Families of rules that share one section of the documentation."""


def rule_of(rule_id: str) -> Rule:
    """The entry of a rule, by its full id.

    Raises:
        KeyError: no such rule.
    """
    found = RULES.get(rule_id)
    if found is not None:
        return found
    for prefix in _LANGUAGES:
        if rule_id.startswith(prefix):
            return RULES[rule_id[len(prefix) :]]
    if rule_id.startswith("secret."):
        return RULES["secret.provider"]
    raise KeyError(rule_id)


def anchor_of(rule_id: str) -> str:
    """Where the documentation explains a rule, relative to the project; users' rules share one section."""
    named = rule_id
    for prefix in _LANGUAGES:
        named = named.removeprefix(prefix)
    if named not in RULES:
        named = next(
            (section for family, section in _SECTIONS.items() if named.startswith(family)),
            "rules-of-your-own",
        )
    return f"docs/scanners.md#{named}"
