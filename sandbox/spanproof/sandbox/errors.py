"""The errors of the sandbox.

    SandboxError
    ├── SandboxUnavailable      the backend cannot run here; the message says what to install or configure
    ├── UnsupportedLanguage     the backend has no such language
    ├── SandboxBroken           the sandbox itself failed (never the program in it); worth one retry
    └── PolicyError             a policy file does not say what it must

A program that fails is not an error: it is an `Execution`.
"""

from __future__ import annotations


class SandboxError(Exception):
    """Root of all errors the sandbox raises."""


class SandboxUnavailable(SandboxError):  # noqa: N818 - a state of this machine, not a mistake
    """The backend cannot run on this machine; the message names what is missing and the remedy."""


class UnsupportedLanguage(SandboxError):  # noqa: N818 - a state of the backend
    """The backend cannot run this language; the message names those it can."""


class SandboxBroken(SandboxError):  # noqa: N818 - says what happened
    """The sandbox failed while running a program; says nothing about the program."""


class PolicyError(SandboxError):
    """A policy is not valid; the message names the file, the key, the value and the remedy."""
