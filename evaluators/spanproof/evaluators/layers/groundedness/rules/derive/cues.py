"""The words that ask for a derived value.

In one place, so that what an answer must say for a derivation to be looked for can be read at a glance.
"""

from __future__ import annotations

from spanproof.evaluators.layers.groundedness.language.words import canonical_set

MINUS_CUES = canonical_set("minus subtract subtracted subtracting")

SUM_CUES = canonical_set(
    "total sum combined overall together altogether across aggregate whole hold add adds comes come came all"
    " spent spend earned income received"
)

CHANGE_CUES = canonical_set(
    "change changed increase increased decrease decreased rise rises rose risen grew grow grown"
    " growth fall fell fallen"
    " drop dropped decline declined gain gained improved reduced reduction jumped surged climbed"
    " slipped shrank shrinks shrunk up down higher"
    " lower more less fewer discount"
)

DIFFERENCE_CUES = (
    CHANGE_CUES
    | MINUS_CUES
    | canonical_set(
        "difference differ differs without"
        " gap free available unused save saved remaining left net spread range margin profit extra"
        " additional above below loss short behind ahead older younger longer shorter faster slower between"
        " apart later earlier than exceeds exceeded trails beat beats won"
        " win leads led edged outscored outsold outweighs outnumbers"
        " outperformed use used"
        " lead advantage lost"
    )
)
RATIO_CUES = canonical_set("times ratio fold twice double doubled triple tripled per each every x")

EACH_CUES = canonical_set("each per every apiece")
SHARE_CUES = CHANGE_CUES | canonical_set(
    "of share percent portion makes represents accounts contributes proportion rate success succeeded"
    " failed passed"
    " remaining rest other return uptime"
)

COMPLEMENT_CUES = canonical_set(
    "success succeeded successful remaining rest other passed uptime failed available"
)

WITH_CUES = canonical_set("plus with including incl together after")

EITHER_CUES = canonical_set("or and of")

AVERAGE_CUES = canonical_set("mean median typical per")

PRODUCT_CUES = canonical_set(
    "come comes came total value worth revenue price for times sum amount overall all"
)

RECKONING_CUES = (
    CHANGE_CUES
    | MINUS_CUES
    | canonical_set(
        "total sum combined overall together altogether aggregate difference differ gap remaining left spread"
        " range margin extra additional ahead behind older younger longer shorter faster slower later earlier"
        " than lead leads trails beat beats won ratio fold twice double doubled triple half third"
        " quarter per each every apiece share portion percent proportion rate rest other mean median typical"
        " hour day week month year daily weekly monthly yearly second minute plus without including"
        " average or after still both pair couple voucher coupon including incl net"
    )
)
"""Words with which a number may be reckoned in one way or another: it is then not simply the value named."""

SERVED = canonical_set("serves servings portions persons people guests makes")
"""What the amounts of a list are told for."""

SPENDING = canonical_set(
    "spend spent expense expenses cost costs paid pay payment charge charged bill billed debit debited"
    " withdrawal withdrew fee rent bought purchase outflow transfer transferred sent"
)
"""Words that say where money went: its sign in a ledger is told with them."""

INCOME = canonical_set("income earned earn received receive deposit deposited credited inflow salary")
"""Words that say that money came in."""

MULTIPLYING = canonical_set(
    "per each every apiece times twice double doubled triple half third quarter times x hour hourly day daily"
    " night nightly week weekly month monthly year yearly annual annually minute second return round tax vat"
    " discount"
)
"""Words with which a number may be reckoned of one value alone."""
