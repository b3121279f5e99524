"""
What is right: the catalogue of refusals and the pure rules of the contract.

Rule modules take values and give values: no socket, file, clock, randomness
or ``async`` in them. Time and ids come from the caller.
"""

if __name__ != "hostproof.reference_impl":
    raise ImportError("import it as hostproof.reference_impl, not from the repository root")
