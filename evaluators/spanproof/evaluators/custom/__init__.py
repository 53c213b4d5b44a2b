"""Your own evaluators: functions in Python or TypeScript, run in the sandbox on spans chosen by rule."""

from spanproof.evaluators.check_kinds import Check
from spanproof.evaluators.custom.attach import Attach
from spanproof.evaluators.custom.checks import BuiltIn
from spanproof.evaluators.custom.evaluator import CUSTOM, VARIABLES, CustomEvaluator, Wiring
from spanproof.evaluators.custom.function import Call, Function, Returned, evaluate
from spanproof.evaluators.custom.in_process import InProcess, load_in_process
from spanproof.evaluators.custom.modules import list_import_pins
from spanproof.evaluators.evaluator import EvaluatorError

__all__ = [
    "CUSTOM",
    "VARIABLES",
    "Attach",
    "BuiltIn",
    "Call",
    "Check",
    "CustomEvaluator",
    "EvaluatorError",
    "Function",
    "InProcess",
    "Returned",
    "Wiring",
    "evaluate",
    "list_import_pins",
    "load_in_process",
]
