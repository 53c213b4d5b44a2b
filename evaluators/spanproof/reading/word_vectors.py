"""Vectors of the words of a text, as the English model's `tok2vec` network gives them.

In: texts, split into words. Out: of each an array with a row a word. The network runs here layer by layer
with the model's own weights and operations: its wrappers for training take two thirds of its time for a
sentence. What depends on a word alone, before the layers that look at its neighbours, is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from spacy.tokens import Doc

# 2 MB of words.
_MAX_KEPT_WORDS: Final = 4_096
# What the model's layers of normalisation add to a variance.
_LEAST_VARIANCE: Final = 1e-08
# Factors of a product up to which numpy's BLAS reads a matrix where it is. BLIS, which thinc calls, copies it
# first: of a sentence of ten words that takes 50 of 70 microseconds, of 60 words it pays.
_MAX_SMALL_PRODUCT: Final = 1_000_000
_MAX_SMALL_PRODUCTS: Final = 4


class WordVectors:
    """Computes the vectors of words by the weights of a `tok2vec` network."""

    def __init__(self, network: Any) -> None:
        self._ops = network.ops
        self._columns: list[int | str] = _list_layers(network, "extract_features")[0].attrs["columns"]
        embeddings = _list_layers(network, "hashembed")
        self._embeddings = [(layer.get_param("E"), layer.attrs["seed"]) for layer in embeddings]
        maxouts, norms = _list_layers(network, "maxout"), _list_layers(network, "layernorm")
        mixer, *layers = [
            _Layer(network.ops, maxout, norm) for maxout, norm in zip(maxouts, norms, strict=True)
        ]
        # Each word by itself, so that it is the same to the last bit whatever is read with it.
        mixer.rows_at_once = 1
        self._mixer, self._layers = mixer, layers
        # A word's vector depends on one neighbour more on each side with each layer.
        self._padding = network.ops.alloc2f(len(layers), mixer.width)
        self._kept: dict[bytes, Any] = {}

    def compute(self, docs: Sequence[Doc]) -> list[Any]:
        """Return the vectors of each text's words."""
        parts, places = [self._padding], []
        at = 0
        for doc in docs:
            parts += [*self._list_own_vectors(doc), self._padding]
            places.append((at, at + len(doc)))
            at += len(doc) + len(self._padding)
        vectors = self._ops.xp.concatenate(parts)
        for layer in self._layers:
            # No word that is left depends on the first and the last row any more.
            vectors = vectors[1:-1] + layer.compute_output(self._ops.seq2col(vectors, 1)[1:-1])
        return [vectors[start:end] for start, end in places]

    def _list_own_vectors(self, doc: Doc) -> list[Any]:
        """Return of each word the vector that does not depend on its neighbours, as an array of one row."""
        words = self._ops.asarray2i(doc.to_array(self._columns), dtype="uint64")
        keys = [word.tobytes() for word in words]
        if len(self._kept) > _MAX_KEPT_WORDS:
            self._kept = {}
        kept = self._kept
        new = [at for at, key in enumerate(keys) if key not in kept]
        if new:
            embedded = self._compute_own_vectors(words[new])
            kept.update((keys[at], embedded[row : row + 1]) for row, at in enumerate(new))
        return [kept[key] for key in keys]

    def _compute_own_vectors(self, words: Any) -> Any:
        ops = self._ops
        parts = [
            ops.gather_add(table, ops.hash(ops.as_contig(words[:, column]), seed) % table.shape[0])
            for column, (table, seed) in enumerate(self._embeddings)
        ]
        return self._mixer.compute_output(ops.xp.concatenate(parts, axis=1))


class _Layer:
    """The largest of three linear maps, normalised."""

    def __init__(self, ops: Any, maxout: Any, norm: Any) -> None:
        self._ops = ops
        self.width, self._pieces = maxout.get_dim("nO"), maxout.get_dim("nP")
        self._weights = ops.as_contig(maxout.get_param("W").reshape(self.width * self._pieces, -1).T)
        self.rows_at_once = _MAX_SMALL_PRODUCT // self._weights.size
        self._bias = maxout.get_param("b").reshape(-1)
        self._gain, self._shift = norm.get_param("G"), norm.get_param("b")

    def compute_output(self, rows: Any) -> Any:
        """Return what the layer makes of some rows."""
        mapped = self._compute_products(rows)
        mapped += self._bias
        largest, _ = self._ops.maxout(mapped.reshape(-1, self.width, self._pieces))
        total = self._ops.xp.add.reduce
        centred = largest - total(largest, axis=1, keepdims=True) / self.width
        variance = total(centred * centred, axis=1, keepdims=True) / self.width + _LEAST_VARIANCE
        return centred * variance**-0.5 * self._gain + self._shift

    def _compute_products(self, rows: Any) -> Any:
        step = self.rows_at_once
        if len(rows) <= step:
            return rows @ self._weights
        if step > 1 and len(rows) > step * _MAX_SMALL_PRODUCTS:
            return self._ops.gemm(rows, self._weights)
        parts = [rows[at : at + step] @ self._weights for at in range(0, len(rows), step)]
        return self._ops.xp.concatenate(parts)


def _list_layers(network: Any, name: str) -> list[Any]:
    """Return the layers of a kind, in the order in which they are applied."""
    return [layer for layer in network.walk(order="dfs_pre") if layer.name == name]
