"""Hypothesis strategies: good and hostile inputs, each with its expected answer."""

if __name__ != "hostproof.strategies":
    raise ImportError("import it as hostproof.strategies, not from the repository root")
