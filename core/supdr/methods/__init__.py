"""The methods: one package each, whose files have the same names in each."""
