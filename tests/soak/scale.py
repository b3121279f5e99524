"""How much of the long tests to run: all by default, a share of it where that is asked for."""

import os

SCALE = float(os.environ.get("HOSTPROOF_SOAK_SCALE", "1"))


def scaled(number: int) -> int:
    """Give the share of a number that is to be run, at least one."""
    return max(1, round(number * SCALE))
