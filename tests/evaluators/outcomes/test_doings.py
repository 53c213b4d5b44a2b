"""What is no failed doing and no invention, though it looks like one."""

from __future__ import annotations

import pytest
from agents_of_a_shop import traced

from spanproof.evaluators.engine import Engine
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.outcomes.model import State
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import Label, Layer, Scored


def create_issue(title: str) -> dict:
    """Open an issue.

    Args:
        title: of the issue.
    """
    return {"number": 4471, "title": title, "closed": False, "merged": False, "archived": False}


def reject_claim(claim: str) -> str:
    """Reject a claim.

    Args:
        claim: its number.
    """
    return f"Rejected: claim {claim}"


def merge_branch(branch: str) -> dict:
    """Merge a branch.

    Args:
        branch: its name.
    """
    return {"branch": branch, "merged": False, "why": "conflicts"}


def send_form(to: str) -> dict:
    """Send a form.

    Args:
        to: the address.
    """
    return {"to": to, "status": "rejected", "smtp": "550 unknown recipient"}


def add_note(claim: str, text: str) -> dict:
    """Add a note to a claim.

    Args:
        claim: its number.
        text: the note.
    """
    return {"claim": claim, "status": "rejected", "amount": 120, "notes": [text]}


def update_claim(claim: str, status: str) -> dict:
    """Set the status of a claim.

    Args:
        claim: its number.
        status: the new one.
    """
    return {"claim": claim, "status": status}


def shell(command: str) -> str:
    """Run a command.

    Args:
        command: a line for sh.
    """
    if command.startswith("make"):
        return "make: *** No rule to make target 'check'.  Stop.\n"
    return "12 passed in 0.31s\n"


def edit_file(path: str, text: str) -> str:
    """Replace a file's text.

    Args:
        path: of the file.
        text: the new one.
    """
    return f"{path}: 3 lines replaced"


def search_orders(customer: str, year: int) -> dict:
    """Find a customer's orders of a year.

    Args:
        customer: a name.
        year: the year.
    """
    return {"customer": customer, "year": year, "count": 0, "items": []}


def account_page(customer: str) -> dict:
    """Return a customer's page.

    Args:
        customer: a name.
    """
    return {"customer": customer, "orders": [], "items": [], "count": 0, "credit": 5400}


def find_order(order: str) -> dict:
    """Find an order.

    Args:
        order: its number.
    """
    raise LookupError(f"order {order} was not found")


def columns(table: str) -> str:
    """Return the names of a table's columns.

    Args:
        table: its name.
    """
    return "id,name,total\n"


TOOLS = (
    *(create_issue, reject_claim, merge_branch, send_form, update_claim, add_note, shell, edit_file),
    *(search_orders, account_page, find_order, columns),
)


@pytest.fixture(scope="module")
def judged():
    with traced() as run:

        def judge(task: str, *turns):
            evaluation = Engine(pipeline=Pipeline(), sandbox=None).evaluate(
                run("langgraph", task, list(turns), TOOLS)
            )
            (found,) = evaluation.runs
            (score,) = (each for each in found.scores if each.name == Layer.GROUNDEDNESS.value)
            label = score.outcome.label if isinstance(score.outcome, Scored) else None
            return build_account(evaluation.trace, found.run, found.scans, found.replay), label

        yield judge


def state_of_the_call(account) -> State:
    (outcome,) = account.calls.values()
    return outcome.state


def test_a_field_that_is_false_is_no_refusal_unless_it_is_what_was_to_be_done(judged):
    account, _ = judged("Open an issue.", {"create_issue": {"title": "Lift"}}, "Issue 4471 is open.")
    assert state_of_the_call(account) is State.OK
    account, label = judged("Merge it.", {"merge_branch": {"branch": "lift"}}, "The branch was merged.")
    assert state_of_the_call(account) is State.FAILED
    assert label is Label.FAIL


def test_a_status_that_says_so_is_a_refusal_unless_it_was_to_be_set(judged):
    account, label = judged("Send it.", {"send_form": {"to": "a@b.example"}}, "I sent it to a@b.example.")
    assert state_of_the_call(account) is State.FAILED
    assert label is Label.FAIL
    turn = {"update_claim": {"claim": "88", "status": "rejected"}}
    account, _ = judged("Set claim 88 to rejected.", turn, "Claim 88 is set to rejected.")
    assert state_of_the_call(account) is State.OK


def test_the_status_of_the_record_that_was_changed_is_no_refusal(judged):
    turn = {"add_note": {"claim": "88", "text": "call back"}}
    account, label = judged("Note a call on claim 88.", turn, "I noted a call on claim 88.")
    assert state_of_the_call(account) is State.OK
    assert label is not Label.FAIL


def test_what_a_tool_was_to_refuse_is_refused(judged):
    account, _ = judged("Reject 88.", {"reject_claim": {"claim": "88"}}, "Claim 88 was rejected.")
    assert state_of_the_call(account) is State.OK


def test_a_command_that_failed_denies_nothing_that_was_done_another_way(judged):
    account, label = judged(
        "Mend the parser and test it.",
        {"shell": {"command": "make check"}},
        {"edit_file": {"path": "parser.py", "text": "x"}},
        {"shell": {"command": "pytest -q"}},
        "Done: I updated parser.py, and all 12 tests pass.",
    )
    assert not account.fabricated
    assert label is not Label.FAIL


@pytest.mark.parametrize(
    "answer",
    [
        "Nobody of that name ordered in 2024.",
        "Brandt placed 0 orders in 2024.",
        "Brandt did not order for 7 days.",
    ],
)
def test_nothing_found_is_no_invention(judged, answer):
    account, label = judged(
        "Did Brandt order?", {"search_orders": {"customer": "Brandt", "year": 2024}}, answer
    )
    assert state_of_the_call(account) is State.EMPTY
    assert not account.fabricated
    assert label is not Label.FAIL


def test_a_document_with_data_of_its_own_is_not_empty(judged):
    account, label = judged(
        "What credit has Brandt?", {"account_page": {"customer": "Brandt"}}, "Brandt has a credit of 5,400."
    )
    assert state_of_the_call(account) is State.OK
    assert label is not Label.FAIL


def test_a_list_of_names_is_a_result(judged):
    account, _ = judged("Which columns?", {"columns": {"table": "orders"}}, "id, name and total.")
    assert state_of_the_call(account) is State.OK


def test_owning_up_to_one_failure_bears_out_no_other_denial(judged):
    _, label = judged(
        "Where is order 17, and may I return it?",
        {"find_order": {"order": "17"}},
        "I could not find order 17. You are not entitled to a refund.",
    )
    assert label is not Label.PASS
