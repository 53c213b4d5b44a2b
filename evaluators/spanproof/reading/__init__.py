"""Readers of what people and tools write: numbers, dates, tables, documents, envelopes, code, sentences.

In: a text. Out: typed values, records and facts with the characters they are written in. Nothing here judges.
"""
