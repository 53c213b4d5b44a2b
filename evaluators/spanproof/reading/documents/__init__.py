"""Readers of documents: tables, literals, labelled lines and prose become records of typed facts."""
