"""The five layers: each a function from the evidence about one run to judgements."""
