"""
A page on a terminal: wrapped lines, labelled fields, and commands that are left whole.

All text goes through :mod:`hostproof.reports.printable` and is given to rich as
``Text``, never as markup, so nothing a host wrote is taken for an instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.text import Text

from hostproof.reports.printable import clipped, encodable, printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

WIDTH: Final = 80
"""How wide a page is, at most."""

_LABEL: Final = 10  # the width of a label and the space after it
_FIELD: Final = 600  # characters of a field that are shown
_BLOCK: Final = 20_000  # characters of a block that are looked at
_BLOCK_LINES: Final = 12  # lines of a block that are shown, as they stand on the page
_COMMAND: Final = 4000  # a longer command is no longer something one copies


class Page:
    """
    What a report is written on.

    Args:
        console: where the page goes; its width counts up to :data:`WIDTH`.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = max(min(console.width, WIDTH), 2 * _LABEL)

    def blank(self) -> None:
        """Leave a line."""
        self._put(Text())

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Write *text* on one line, or on as many as it takes."""
        self._wrapped(printable(text), indent=indent, style=style)

    def row(self, cells: Sequence[str], styles: Sequence[str]) -> None:
        """Write *cells* side by side, each in its style; their widths are the caller's."""
        shown = [
            Text(self._fit(printable(cell)), style)
            for cell, style in zip(cells, styles, strict=True)
        ]
        self._put(Text("  ").join(shown))

    def field(self, label: str, text: str, indent: int = 0, style: str = "") -> None:
        """Write *text*, cut if it is very long, beside its *label*."""
        shown = printable(clipped(text, _FIELD))
        self._wrapped(shown, indent=indent, label=label, style=style)

    def block(self, label: str, text: str, indent: int = 0) -> None:
        """Write *text* with its own lines, the first ones if there are many."""
        lines: list[Text] = []
        for line in printable_lines(clipped(text, _BLOCK)):
            first = "" if lines else label
            lines += self._lines(line, indent=indent, label=first, hang=True)
        cut = len(lines) > _BLOCK_LINES + 1  # the line that says so would take one, too
        for shown in lines[:_BLOCK_LINES] if cut else lines:
            self._put(shown)
        if cut:
            more = f"... ({len(lines) - _BLOCK_LINES} more lines)"
            self._wrapped(more, indent=indent, label="", hang=True)

    def short(self, label: str, text: str, indent: int = 0) -> None:
        """Write *text* beside its *label* on one line, cut where the page ends."""
        line, *rest = self._lines(printable(text), indent=indent, label=label)
        if rest:
            line.truncate(self._width - 4)
            line.rstrip()
            line.append(" ...")
        self._put(line)

    def whole(self, label: str, text: str, indent: int = 0) -> None:
        """Write *text* beside its *label* on one line that is never broken."""
        shown = Text(" " * indent)
        shown.append(f"{label:<{_LABEL}}", "dim")
        self._put(shown.append(self._fit(printable(text))))

    def command(self, text: str, indent: int = 0) -> None:
        """
        Write a shell command on a line of its own that is never broken, so that it can be copied.

        A command that does not print as it is gets a warning, a very long one is left out.
        """
        if len(text) > _COMMAND:
            self.line(
                f"the command is too long to show here ({len(text)} characters)", "dim", indent
            )
            return
        shown = self._fit(printable(text))
        if shown != text:
            self.line("not to be copied, characters that do not print are escaped:", "dim", indent)
        self._put(Text(" " * indent + shown))

    def _wrapped(
        self, text: str, *, indent: int, style: str = "", label: str = "", hang: bool = False
    ) -> None:
        """Write *text* in lines, the first after *label*, the others below its first letter."""
        for line in self._lines(text, indent=indent, style=style, label=label, hang=hang):
            self._put(line)

    def _lines(
        self, text: str, *, indent: int, style: str = "", label: str = "", hang: bool = False
    ) -> list[Text]:
        start = Text(" " * indent)
        if label or hang:
            start.append(f"{label:<{_LABEL}}", "dim")
        room = self._width - start.cell_len
        words = Text(self._fit(text), style)
        lines = []
        for line in words.wrap(self._console, room, overflow="fold"):
            line.rstrip()
            line = start + line  # noqa: PLW2901 - the line as it is written
            line.rstrip()
            lines.append(line)
            start = Text(" " * start.cell_len)
        return lines

    def _put(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True, highlight=False)

    def _fit(self, text: str) -> str:
        encoding = self._console.encoding
        return text if encoding.startswith("utf") else encodable(text, encoding)
