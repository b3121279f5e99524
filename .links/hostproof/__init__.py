"""hostproof: proves whether an agent host refuses what it must refuse."""

from importlib.metadata import version

__version__ = version("hostproof")
