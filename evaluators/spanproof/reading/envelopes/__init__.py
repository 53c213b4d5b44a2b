"""Envelopes: how a result says that it worked, failed, found nothing, or did only a part.

In: a result and the kind of tool that gave it. Out: an `Envelope`. The forms are data: `documents.toml` has
those of JSON, `texts.toml` those of texts, each with its producer and an example. In a document, a log or a
search result even an error message is content, and a document with data of its own is data, whatever its
fields are called.
"""
