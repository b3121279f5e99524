"""The rules, by what they are about. Each module gives its ``RULES``, in order."""
