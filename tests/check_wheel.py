"""
Check that the one wheel in a folder holds every module and data file, and only hostproof.

    python tests/check_wheel.py FOLDER
"""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("conformance", "strategies", "reference_impl", "reports")


def expected() -> set[str]:
    """List what the four folders hold, as it is named in the wheel."""
    files = {
        f"hostproof/{path.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return files | {"hostproof/__init__.py", "hostproof/py.typed"}


def main() -> int:
    """Compare, and say what is missing or too many."""
    (wheel,) = Path(sys.argv[1]).glob("*.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    missing, foreign = sorted(expected() - names), sorted(names - expected())
    for name in missing:
        sys.stdout.write(f"missing from the wheel: {name}\n")
    for name in foreign:
        sys.stdout.write(f"not of ours in the wheel: {name}\n")
    return 1 if missing or foreign else 0


if __name__ == "__main__":
    sys.exit(main())
