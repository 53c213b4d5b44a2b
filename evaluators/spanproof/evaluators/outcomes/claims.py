"""What an answer claims where nothing bears it out: that there is none, or that something was done.

In: the answer of a run, and the failures of its look-ups and operations that nothing recovered. Out: an
`Origin` for the claim. A look-up that failed says nothing of what it would have found; an operation
that failed is not done. Where the answer says that something failed there is no such claim.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanproof.evaluators.outcomes.model import Origin, OriginKind, StepOutcome
from spanproof.evaluators.outcomes.topics import extract_topics, is_readable, reports_failure
from spanproof.trace import JsonValue

_ACTS = frozenset(
    str.split(
        "post send book create delete update cancel schedule submit save upload pay refund transfer add"
        " remove deploy merge publish assign reserve register write set put insert move notify email place"
        " issue grant revoke approve reject close open start stop restart order buy sell charge reset rename"
        " archive renew convert encode transcode render trigger dispatch launch enable disable lock unlock"
        " export import sync print ship deliver confirm mark attach escalate retry rerun acknowledge"
    )
)
# Verbs that name a tool by themselves; the others are nouns as well.
_ACTS_ALONE = _ACTS - frozenset(
    str.split(
        "post set put place order issue open start stop email charge register trigger dispatch launch lock"
        " export import print ship mark"
    )
)

_REFUSING = frozenset({"reject"})
_IRREGULAR = {"send": "sent", "pay": "paid", "write": "written", "buy": "bought", "sell": "sold"}
_VERDICTS = frozenset(("status", "state", "result", "outcome"))
# What the result of an operation says of itself where it was not done.
_REFUSED = frozenset(
    str.split("rejected failed failure error declined denied refused bounced aborted undeliverable")
)
# Verbs whose result is the record that they changed: its `status` is its own, not the operation's.
_KEEPS_A_RECORD = frozenset(
    str.split(
        "create update set put add assign write save mark rename attach archive move insert remove delete"
        " approve close open escalate acknowledge register"
    )
)

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_DONE = re.compile(
    r"\b(?:ordered|placed|sent|booked|created|deleted|updated|cancell?ed|scheduled|submitted|posted|saved"
    r"|uploaded|paid|refunded|transferred|added|removed|deployed|merged|published|assigned"
    r"|reserved|registered"
    r"|written|inserted|moved|notified|emailed|issued|granted|revoked|approved|rejected|closed|opened|started"
    r"|stopped|restarted|bought|sold|charged|reset|renamed|archived|renewed|changed|completed"
    r"|done|successful(?:ly)?|(?:un)?installed|upgraded|built|compiled|downloaded|copied|committed|pushed"
    r"|cloned|restored|configured|enabled|disabled|extracted|migrated|accepted|confirmed|generated|executed"
    r"|bestellt|gesendet|gebucht|erstellt|gel[öo]scht|storniert|erledigt|bezahlt|aktualisiert|angelegt"
    r"|envoy[ée]e?|r[ée]serv[ée]e?|command[ée]e?|enviad[oa]|reservad[oa]|creat[oa]|inviat[oa]"
    r"|prenotat[oa])\b",
    re.IGNORECASE,
)
_UNDONE = re.compile(
    r"\b(?:not|n.t|never|no longer|nicht|pas|non|n[ãa]o|if|once|when|would|will|should|could|can|may|please"
    r"|want|shall|before|unless|wenn|soll)\b",
    re.IGNORECASE,
)
_ABSENCE = re.compile(
    r"\b(?:(?:has|have|had|are|is|were|was|with|there|found|shows?|holds?|owns?) (?:currently )?"
    r"(?:no|zero|0|none|not any|without)\b(?: [\w'-]+){0,3}|does(?: not|n.t) (?:have|own|hold"
    r"|exist)(?: [\w'-]+){0,3}"
    r"|(?:none|nothing)\b(?: [\w'-]+){0,3}|^no (?!data\b)(?:[\w'-]+ ){0,3}[\w'-]+|keine?n? [\w'-]+"
    r"|aucune? [\w'-]+|ning[úu]n [\w'-]+|nessun[ao]? [\w'-]+|nenhum[a]? [\w'-]+|geen [\w'-]+)",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"\b(?:does(?: not|n.t) exist|not found|no such|unknown (?:column|table|field|key|name)|not in index"
    r"|KeyError|has no (?:attribute|column|field)|is not (?:defined|known)"
    r"|undefined (?:column|table|field)|not on file|\w+_not_found|no \w+ (?:of|with|by|for) (?:that|this))\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|none|nothing|cannot|without)\b|n['’]t\b", re.IGNORECASE)
_OF_MESSAGES = frozenset(
    str.split(
        "error no not such does exist column table relation field key file directory unknown line select from"
        " where has have had there was were attribute defined exception operational sqlite3 sqlite psycopg"
    )
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_MAX_ANSWER = 4_000


@dataclass(frozen=True, slots=True)
class Lack:
    """A call of a tool, or of a program by a shell; `does` where it was to change something."""

    step: int
    span_id: str
    name: str
    outcome: StepOutcome
    does: bool


def acts(tool: str) -> bool:
    """Whether a tool does something, rather than look it up: its name begins with what it does."""
    words = [word.lower() for word in _WORD.findall(tool)]
    if len(words) == 1:
        return words[0] in _ACTS_ALONE
    return bool(words) and words[0] in _ACTS


def is_refused(tool: str, result: Mapping[str, JsonValue], given: Collection[JsonValue] = ()) -> bool:
    """Whether an operation's result says that it was not done: `{"reserved": false, …}` of `reserve_room`.

    So does `{"status": "rejected", …}`, unless that is what it was given to set. Of a new issue,
    `{"closed": false}` says no such thing.
    """
    done = _derive_participles(_extract_verb(tool))
    if any(item is False and name.lower() in done for name, item in result.items()):
        return True
    if _extract_verb(tool) in _KEEPS_A_RECORD:
        return False
    wanted = {each.lower() for each in given if isinstance(each, str)}
    return any(
        name.lower() in _VERDICTS and isinstance(item, str) and item.lower() in _REFUSED - wanted
        for name, item in result.items()
    )


def refuses(tool: str) -> bool:
    """Whether a tool is there to refuse: "Rejected: …" is what it was to do."""
    return _extract_verb(tool) in _REFUSING


def _extract_verb(tool: str) -> str:
    return next((word.lower() for word in _WORD.findall(tool)), "")


def _derive_participles(verb: str) -> set[str]:
    """Return how a verb may say that it was done; more forms than it has do no harm."""
    return {_IRREGULAR.get(verb, verb), f"{verb}d", f"{verb}ed", f"{verb}{verb[-1:]}ed"}


def find_absence_claim(answer: str) -> str | None:
    """Return the words in which an answer says that there is none, None where it does not."""
    for sentence in _SENTENCE.findall(answer[:_MAX_ANSWER]):
        found = _ABSENCE.search(sentence.strip())
        if found is not None:
            return found[0].strip()
    return None


def proves_absence(quote: str, answer: str) -> bool:
    """Whether an error says of the very thing that an answer denies that it is not there.

    `column "phosphate" does not exist` does of "there is no phosphate column".
    """
    if _MISSING.search(quote) is None:
        return False
    missing = _extract_subjects(quote)
    return any(
        _DENIES.search(sentence) and missing & _extract_subjects(sentence)
        for sentence in _SENTENCE.findall(answer[:_MAX_ANSWER])
    )


def _extract_subjects(text: str) -> frozenset[str]:
    """Return the words of a text that name something of its own."""
    return extract_topics(text.replace("_", " ")) - _OF_MESSAGES


def find_done_claim(answer: str) -> str | None:
    """Return the word with which an answer says that something was done, None where it does not."""
    for sentence in _SENTENCE.findall(answer[:_MAX_ANSWER]):
        found = _DONE.search(sentence)
        if found is not None and "?" not in sentence and not _UNDONE.search(sentence[: found.start()]):
            return found[0]
    return None


def find_denied_claims(
    answer: str, task: str, undone: Sequence[Lack], unlooked: Sequence[Lack]
) -> Iterator[Origin]:
    """Yield the claims of an answer that failures deny.

    Args:
        answer: of the run.
        task: what it was to do.
        undone: operations that failed, of which no other try went well.
        unlooked: look-ups that failed; empty where some look-up brought something.
    """
    if not answer.strip() or reports_failure(answer, task) or not is_readable(answer):
        return
    done, absence = find_done_claim(answer), find_absence_claim(answer)
    if undone and done is not None:
        yield _make_origin(done, OriginKind.UNDONE, undone[-1])
    elif absence is not None and not any(proves_absence(lack.outcome.quote, answer) for lack in unlooked):
        yield from (_make_origin(absence, OriginKind.ABSENCE, lack) for lack in unlooked[-1:])


def _make_origin(words: str, kind: OriginKind, lack: Lack) -> Origin:
    return Origin(
        words, kind, fabricated=True, step=lack.step, span_id=lack.span_id, source=lack.outcome.cause
    )
