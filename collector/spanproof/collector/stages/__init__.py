"""The stages of the collector: assemble, evaluate, store, attach."""
