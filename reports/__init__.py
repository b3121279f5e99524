"""A result document in; reports for people and for machines out."""

if __name__ != "hostproof.reports":
    raise ImportError("import it as hostproof.reports, not from the repository root")
