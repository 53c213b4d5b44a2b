"""Make public names that look random: ids of models, files, wheels, hashes, UUIDs, words in base64.

    python tests/bench/public_names.py [--show]

Prints how many of 10,000 of them, each in a line of code, the scanner of secrets reviews or denies, by kind.
The same seed makes the same names.
"""

from __future__ import annotations

import base64
import hashlib
import random
import string
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.sandbox.words import split_words

COUNT: Final = 10_000
_LINES: Final = 50
"""Names in one source: scanning each by itself would take ten times as long."""
_WORDS: Final = sorted(
    split_words(
        "alpha amber anchor atlas basin birch bridge canyon cedar cloud cobalt copper coral delta ember "
        "falcon fern forest frost garden glacier granite harbor hazel indigo island ivory jasper juniper "
        "lagoon lantern lemon maple marble meadow mesa mint nectar north oasis ocean olive onyx orchid pearl "
        "pine planet prairie quartz rapid raven river saffron sage shadow silver sierra solar spruce stone "
        "summit sunset tango thunder tide timber topaz tulip valley velvet violet willow winter zephyr "
        "customer order invoice payment report user account product catalog inventory shipment session "
        "checkout refund policy metric forecast training dataset"
    )
)
_ORGS: Final = sorted(
    split_words("acme-ai deepriver meta-vision openlab stellar-nlp BigBasin sentence-encoders NousWorks")
)
_FAMILIES: Final = sorted(
    split_words("Llama Qwen Mistral Gemma Falcon Phi Yi Bloom DeepRiver Mixtral StarCoder bge-m3 e5")
)
_HEX: Final = "0123456789abcdef"
_LETTERS: Final = string.ascii_letters + string.digits


class Named(NamedTuple):
    """A public name in a line of code, and what kind it is of."""

    kind: str
    line: str


def iter_names(count: int = COUNT, seed: int = 53) -> Iterator[Named]:
    """Yield lines of code that each hold one public name."""
    chance = random.Random(seed)
    kinds = list(_KINDS.items())
    for index in range(count):
        kind, make = kinds[index % len(kinds)]
        yield Named(kind, chance.choice(_CONTEXTS[kind]).format(make(chance)))


def count_flagged(count: int = COUNT) -> tuple[Counter[str], list[str]]:
    """Return how many names of each kind are reviewed or denied, and their lines."""
    pipeline = Pipeline()
    names = list(iter_names(count))
    flagged: Counter[str] = Counter()
    lines: list[str] = []
    for start in range(0, len(names), _LINES):
        some = names[start : start + _LINES]
        scan = pipeline.scan("text", "\n".join(name.line for name in some))
        for number in {
            finding.line
            for finding in scan.findings
            if finding.rule.startswith("secret.") and finding.verdict is not Verdict.ALLOW
        }:
            flagged[some[number - 1].kind] += 1
            lines.append(some[number - 1].line)
    return flagged, lines


def _make_text(chance: random.Random, alphabet: str, size: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(size))


def _make_slug(chance: random.Random, mark: str = "-", words: int = 0) -> str:
    return mark.join(chance.sample(_WORDS, words or chance.randint(3, 6)))


def _make_model(chance: random.Random) -> str:
    size = chance.choice(["0.5B", "1.5B", "3B", "7B", "8x7B", "13B", "70B", "405B"])
    end = chance.choice(
        ["Instruct", "Chat", "Instruct-v0.2", "base", "it", "Instruct-AWQ", "GPTQ-Int4", "hf"]
    )
    family = f"{chance.choice(_FAMILIES)}-{chance.randint(1, 4)}.{chance.randint(0, 3)}"
    return f"{chance.choice(_ORGS)}/{family}-{size}-{end}"


def _make_hosted_model(chance: random.Random) -> str:
    date = f"20{chance.randint(23, 26)}{chance.randint(1, 12):02}{chance.randint(1, 28):02}"
    head = chance.choice(
        ["claude-3-5-sonnet", "gpt-4o-mini", "text-embedding-3-large", "gemini-1.5-pro", "o1-preview"]
    )
    return chance.choice(
        [
            f"{head}-{date}",
            f"anthropic.{head}-{date}-v1:0",
            f"ft:{head}:acme:{_make_slug(chance, '-', 2)}:9{_make_text(chance, _LETTERS, 7)}",
        ]
    )


def _make_weights(chance: random.Random) -> str:
    model = _make_model(chance).partition("/")[2]
    return model + chance.choice(
        ["-Q4_K_M.gguf", "-Q8_0.gguf", ".IQ3_XXS.gguf", "-00001-of-00004.safetensors", "-fp16.onnx"]
    )


def _make_wheel(chance: random.Random) -> str:
    name = _make_slug(chance, "_", 2)
    version = f"{chance.randint(0, 30)}.{chance.randint(0, 20)}.{chance.randint(0, 9)}"
    python = f"cp3{chance.randint(8, 14)}"
    end = chance.choice(
        [
            "manylinux_2_17_x86_64.manylinux2014_x86_64",
            "macosx_11_0_arm64",
            "win_amd64",
            "musllinux_1_2_aarch64",
        ]
    )
    return f"{name}-{version}-{python}-{python}-{end}.whl"


def _make_uuid(chance: random.Random) -> str:
    made = str(uuid.UUID(int=chance.getrandbits(128), version=4))
    return chance.choice([made, made.upper(), made.replace("-", ""), f"{{{made}}}", f"urn:uuid:{made}"])


def _make_hash(chance: random.Random) -> str:
    data = chance.randbytes(16)
    digest = chance.choice([hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.sha512])(data).hexdigest()
    return chance.choice([digest, digest.upper(), f"sha256:{hashlib.sha256(data).hexdigest()}"])


def _make_integrity(chance: random.Random) -> str:
    name = chance.choice(["sha256", "sha384", "sha512"])
    return f"{name}-{base64.b64encode(hashlib.new(name, chance.randbytes(8)).digest()).decode()}"


def _make_encoded_words(chance: random.Random) -> str:
    text = _make_slug(chance, " ", chance.randint(4, 9)).encode()
    return chance.choice([base64.b64encode, base64.urlsafe_b64encode, base64.b32encode])(text).decode()


def _make_encoded_json(chance: random.Random) -> str:
    text = f'{{"{chance.choice(_WORDS)}": "{_make_slug(chance)}", "id": {chance.randint(1, 9999)}}}'
    return base64.b64encode(text.encode()).decode()


def _make_file(chance: random.Random) -> str:
    date = f"2024{chance.randint(1, 12):02}{chance.randint(1, 28):02}T{chance.randint(0, 235959):06}Z"
    end = chance.choice(["csv.gz", "parquet", "log", "json", "tar.zst", "png", "ipynb"])
    return chance.choice([
        f"{_make_slug(chance, '_', 3)}_{date}.{end}",
        f"part-{chance.randint(0, 99):05}-{_make_uuid(chance).strip('{}').lower()}-c000.snappy.parquet",
        f"{_make_slug(chance, '/', 3)}/{_make_text(chance, _HEX, 8)}.{end}",
        f"{_make_slug(chance, '-', 2)}.{_make_text(chance, _HEX, 8)}.chunk.js",
        f"IMG_{date}_{_make_slug(chance, '-', 2)}.{end}",
    ])  # fmt: skip


def _make_resource(chance: random.Random) -> str:
    account = _make_text(chance, string.digits, 12)
    project, role = _make_slug(chance, "-", 2), _make_slug(chance, "-", 3)
    pod = _make_text(chance, string.ascii_lowercase + string.digits, 5)
    part = _make_text(chance, _HEX, 16)
    return chance.choice([
        f"arn:aws:iam::{account}:role/{role}",
        f"arn:aws:lambda:eu-west-1:{account}:function:{project}:{chance.randint(1, 99)}",
        f"projects/{project}/locations/us-central1/endpoints/{_make_text(chance, string.digits, 19)}",
        f"{project}-{_make_text(chance, _HEX, 9)}-{pod}",
        *(f"{kind}-0{part}" for kind in ("i", "vpc", "ami")),
    ])  # fmt: skip


def _make_image(chance: random.Random) -> str:
    name = f"ghcr.io/{chance.choice(_ORGS).lower()}/{_make_slug(chance, '-', 2)}"
    return chance.choice(
        [
            f"{name}:v{chance.randint(1, 9)}.{chance.randint(0, 20)}.0-{_make_text(chance, _HEX, 7)}",
            f"{name}@sha256:{_make_text(chance, _HEX, 64)}",
        ]
    )


def _make_identifier(chance: random.Random) -> str:
    words = chance.sample(_WORDS, chance.randint(3, 5))
    camel = words[0] + "".join(map(str.title, words[1:]))
    return chance.choice(
        [
            camel,
            camel[0].upper() + camel[1:] + "V2Impl",
            "com.acme." + ".".join(words[:2]) + "." + camel,
            "_".join(words).upper() + f"_{chance.randint(1, 99)}",
            f"test_{'_'.join(words)}[{chance.randint(0, 9)}-{words[0]}]",
        ]
    )


def _make_sorted_id(chance: random.Random) -> str:
    crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    return chance.choice(
        [
            f"01{_make_text(chance, crockford, 24)}",
            _make_text(chance, _HEX, 24),
            f"2{_make_text(chance, _LETTERS, 26)}",
        ]
    )


def _make_alphabet(chance: random.Random) -> str:
    parts = [string.ascii_uppercase, string.ascii_lowercase, string.digits]
    chance.shuffle(parts)
    return "".join(parts) + chance.choice(["", "+/", "-_"])


def _make_chemistry(chance: random.Random) -> str:
    rings = ["c1ccccc1", "C(=O)", "N", "O", "CC", "C1CCNCC1", "C#N", "[C@@H]", "F", "S(=O)(=O)", "n1cnc2c1"]
    dna = _make_text(chance, "ACGT", chance.randint(24, 60))
    return chance.choice(
        ["".join(chance.choice(rings) for _ in range(9)), dna, _make_text(chance, "ACDEFGHIKLMNPQRSTVWY", 40)]
    )


def _make_address(chance: random.Random) -> str:
    path = f"{_make_slug(chance, '/', 2)}/{_make_text(chance, _LETTERS, 11)}"
    return f"https://cdn.{chance.choice(_WORDS)}.example/{path}?v={_make_text(chance, _HEX, 8)}"


_KINDS: Final[dict[str, Callable[[random.Random], str]]] = {
    "model": _make_model,
    "hosted model": _make_hosted_model,
    "weights": _make_weights,
    "wheel": _make_wheel,
    "uuid": _make_uuid,
    "hash": _make_hash,
    "integrity": _make_integrity,
    "words in base64": _make_encoded_words,
    "JSON in base64": _make_encoded_json,
    "file": _make_file,
    "resource": _make_resource,
    "image": _make_image,
    "identifier": _make_identifier,
    "slug": _make_slug,
    "sorted id": _make_sorted_id,
    "alphabet": _make_alphabet,
    "molecule or sequence": _make_chemistry,
    "address": _make_address,
}
_ANY: Final = [
    "x = '{}'",
    'value = "{}"',
    "run('{}')",
    '{{"item": "{}"}}',
    "    '{}',",
    'load("{}", 3)',
    "args = ['--use', '{}']",
    'name: "{}"',
    'target = "{}"  # kept',
]
_CONTEXTS: Final[dict[str, list[str]]] = dict.fromkeys(_KINDS, _ANY) | {
    "model": [
        *_ANY,
        "MODEL = '{}'",
        "tokenizer = AutoTokenizer.from_pretrained('{}')",
        "model_key = '{}'",
        'TOKENIZER = "{}"',
    ],
    "hosted model": [*_ANY, 'model="{}",', "key = '{}'"],
    "weights": [*_ANY, 'hf_hub_download(repo, filename="{}")'],
    "hash": [*_ANY, "checksum = '{}'", "assert digest == '{}'", "cache_key = '{}'", 'commit: "{}"'],
    "uuid": [*_ANY, "user_id = '{}'", 'key = "{}"', "session = '{}'"],
    "file": [*_ANY, "s3.upload_file(path, bucket, Key='{}')", "object_key = '{}'"],
    "slug": [*_ANY, "primary_key = '{}'", "cache_key = '{}'", "auth_backend = '{}'"],
    "identifier": [*_ANY, "token_type = '{}'", "key = '{}'", 'password_field = "{}"'],
    "sorted id": ["user_id = '{}'", 'trace_id = "{}"', "ulid = '{}'", 'object_id: "{}"'],
}


def main() -> None:
    """Print the names that are flagged, by kind."""
    flagged, lines = count_flagged()
    print(f"{sum(flagged.values())} of {COUNT} public names are reviewed or denied: {dict(flagged)}")
    if "--show" in sys.argv:
        print("\n".join(lines))


if __name__ == "__main__":
    main()
