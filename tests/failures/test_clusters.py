from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from spanproof.failures import Signature, build_signature
from spanproof.failures import group_signatures as cluster_by_fingerprint
from spanproof.failures.clusters import compute_similarity
from spanproof.trace import Layer

MESSAGES = st.lists(st.sampled_from(["no seat", "is left", "on flight", "of the day", "was sold", "to you"]))


def cluster(signatures: Sequence[Signature], moved: Mapping[str, str] | None = None) -> dict[str, str]:
    return cluster_by_fingerprint({each.fingerprint: each for each in signatures}, moved)


def raised(message: str, error_type: str = "ShopError") -> Signature:
    return build_signature(
        Layer.EXECUTION, "outcome", failure_class="exception", error_type=error_type, message=message
    )


def test_equal_messages_but_for_values_are_one_failure():
    first, second = raised("order 17 is locked by 'ada'"), raised("order 4 is locked by 'ben'")
    assert first.fingerprint == second.fingerprint


def test_nearly_equal_messages_are_one_cluster_under_the_id_of_the_first():
    first = raised("the refund window of order 3 closed 12 days ago")
    second = raised("the refund window of order 9 was closed 1 day ago")
    assert cluster([first, second]) == {
        first.fingerprint: first.fingerprint,
        second.fingerprint: first.fingerprint,
    }


def test_another_type_status_or_tool_is_another_cluster():
    def call(tool: str) -> Signature:
        return build_signature(
            Layer.EXECUTION, "call", error_type="ShopError", message="no stock", subject=tool
        )

    signatures = [
        raised("no stock is left"), raised("no stock is left", "BankError"), raised("status 404 of the shop"),
        raised("status 500 of the shop"), call("quote"), call("refund"),
    ]  # fmt: skip
    assert len(set(cluster(signatures).values())) == len(signatures)


def test_what_a_rule_explains_is_one_cluster_in_whatever_words():
    texts = [
        "unsupported operand type(s) for +: 'int' and 'str'",
        'can only concatenate str (not "int") to str',
    ]
    first, second = (raised(text, "TypeError") for text in texts)
    assert first.fingerprint == second.fingerprint


def test_merged_clusters_take_their_members_along():
    first, like_first, other = (
        raised("the refund window of order 3 closed 12 days ago"),
        raised("the refund window of order 9 was closed 1 day ago"),
        raised("refund of 7 USD exceeds the payment"),
    )
    found = cluster([first, like_first, other], {first.fingerprint: other.fingerprint})
    assert set(found.values()) == {other.fingerprint}


def test_a_member_that_was_split_off_is_a_cluster_of_its_own():
    first = raised("the refund window of order 3 closed 12 days ago")
    second = raised("the refund window of order 9 was closed 1 day ago")
    assert cluster([first, second], {second.fingerprint: second.fingerprint}) == {
        first.fingerprint: first.fingerprint, second.fingerprint: second.fingerprint,
    }  # fmt: skip


def test_merges_in_a_circle_end():
    first, second = raised("no stock is left"), raised("bank holiday today")
    found = cluster(
        [first, second], {first.fingerprint: second.fingerprint, second.fingerprint: first.fingerprint}
    )
    assert set(found) == {first.fingerprint, second.fingerprint}


@given(st.lists(MESSAGES, max_size=12), st.lists(MESSAGES, max_size=6))
def test_later_failures_never_move_earlier_ones(before, after):
    earlier = [raised(" ".join(words)) for words in before]
    later = [raised(" ".join(words)) for words in after]
    grown = cluster([*earlier, *later])
    assert {key: grown[key] for key in cluster(earlier)} == cluster(earlier)


@given(MESSAGES, MESSAGES)
def test_similarity_is_a_symmetric_share(one, other):
    assert compute_similarity(one, other) == compute_similarity(other, one)
    assert 0 <= compute_similarity(one, other) <= 1
    assert compute_similarity(one, one) == 1
