"""Regular expressions of many words, as a tree of their letters.

In: words. Out: the source of an expression that matches the longest of them. An alternation of 200 words is
tried word by word at each character; the tree decides by one character at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


def build_word_pattern(words: Iterable[str]) -> str:
    """Return an expression that matches the longest of some words that begins at a place."""
    tree: dict[str, Any] = {}
    for word in words:
        node = tree
        for letter in word:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _build_branch(tree)


def _build_branch(node: dict[str, Any]) -> str:
    """Return the expression of what may follow at a node of the tree; `""` is the key of a word's end."""
    leaves = [letter for letter in node if letter and list(node[letter]) == [""]]
    branches = [
        re.escape(letter) + _build_branch(node[letter]) for letter in node if letter and letter not in leaves
    ]
    if len(leaves) == 1:
        branches.append(re.escape(leaves[0]))
    elif leaves:
        branches.append("[" + "".join(map(re.escape, leaves)) + "]")
    if not branches:
        return ""
    if len(branches) == 1 and "" not in node:
        body = branches[0]
    else:
        body = f"(?:{'|'.join(branches)})"
    return f"{body}?" if "" in node else body
