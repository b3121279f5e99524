"""Targets, profiles, rules, faults, the runner and the command line."""

if __name__ != "hostproof.conformance":
    raise ImportError("import it as hostproof.conformance, not from the repository root")
