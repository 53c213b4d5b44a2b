"""What an answer claims: values and states, each with the words and records that are told about it."""
