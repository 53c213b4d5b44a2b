"""The log of acknowledged requests on disk."""
