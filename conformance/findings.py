"""
What was found, made ready to be shown and repeated: without secrets, and kept.

A finding carries the request as a curl line and an id to replay it by; the
case itself goes into the folder of kept cases.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from hostproof.conformance.curl import curl_line, needs_file
from hostproof.conformance.gate import MOST_REPEATED
from hostproof.conformance.kept import CASES_FOLDER, body_file, keep
from hostproof.conformance.kept_case import KeptCase, KeptExchange, KeptRequest, kept_id
from hostproof.conformance.places import joined
from hostproof.reports.finding import Body, Exchange, Finding, Header, Request, Response
from hostproof.reports.printable import clipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hostproof.conformance import exchange as wire
    from hostproof.conformance.kept_case import Mode
    from hostproof.conformance.redaction import Redactor
    from hostproof.conformance.verdict import CaseFinding

MAX_SHOWN_BODY: Final = 4_000
MAX_EXCERPT: Final = 2_000
MAX_KEPT_A_RULE: Final = MOST_REPEATED
"""Findings of one rule that are kept and shown; the rest are counted."""

SPENT: Final = "the curl line answers a pause that is spent: repeat it all with hostproof replay"
"""What is said beside an answer's curl line."""

MAX_WORDS: Final = 400
"""Characters of a description that are shown."""


def now_text() -> str:
    """Give the time as RFC 3339 in UTC."""
    return datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")


def shown_words(text: str, redactor: Redactor) -> str:
    """Make a short text that may hold words of a host's ready to be shown."""
    return clipped(redactor.text(text), MAX_WORDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeper:
    """
    Keeps failing cases and makes their findings.

    Attributes:
        base_url: what requests' paths are relative to.
        target: what was tested, for the kept file.
        redactor: takes the callers' secrets out.
        mode: how cases were found.
        seed: what the run's ids were made from.
        folder: where cases are kept.
    """

    base_url: str
    target: str
    redactor: Redactor
    mode: Mode
    seed: int
    folder: Path = CASES_FOLDER

    def findings_of(self, rule: str, found: Sequence[CaseFinding]) -> tuple[Finding, ...]:
        """
        Keep the cases of one rule, and give their findings.

        Raises:
            KeptError: the folder cannot be written.
        """
        kept = [self._finding(rule, one) for one in found[:MAX_KEPT_A_RULE]]
        if len(found) > len(kept):
            note = f"{len(found)} cases broke the rule; the first {len(kept)} are kept"
            before = kept[0].note
            kept[0] = replace(kept[0], note=note if before is None else f"{note}. {before}")
        return tuple(kept)

    def _finding(self, rule: str, found: CaseFinding) -> Finding:
        exchanges = found.recording.exchanges
        steps = [*exchanges, *(found.again.exchanges if found.again and not found.steady else ())]
        shown = found.recording.changed[0] if found.recording.changed else exchanges[-1]
        kept = KeptCase(
            id=kept_id(rule, found.case, b""),
            rule=rule,
            case=found.case,
            mode=self.mode,
            seed=self.seed,
            target=self.target,
            endpoint=found.recording.case.endpoint,
            created=now_text(),
            expected=found.breach.expected,
            seen=shown_words(found.breach.seen, self.redactor),
            requests=tuple(KeptRequest.of(one.request, self.redactor) for one in exchanges),
            exchanges=tuple(KeptExchange.of(one, self.redactor) for one in exchanges),
        )
        return self.finding(
            kept,
            shown,
            steps,
            at=exchanges.index(shown),
            place=found.breach.place and shown_words(found.breach.place, self.redactor),
            steady=found.steady,
            canary=found.recording.case.canary,
            note=SPENT if found.recording.case.kind == "answer" else None,
        )

    def finding(
        self,
        kept: KeptCase,
        shown: wire.Exchange,
        steps: Iterable[wire.Exchange],
        *,
        at: int,
        place: str | None,
        steady: bool,
        canary: str,
        note: str | None = None,
    ) -> Finding:
        """
        Keep a case, and give its finding.

        Raises:
            KeptError: the folder cannot be written.
        """
        keep(kept, self.folder)
        request = shown.request
        file = body_file(kept, at, self.folder) if needs_file(request.body) else None
        curl = curl_line(
            request.method,
            joined(self.base_url, request.path) if request.path else self.base_url,
            request.headers,
            request.body,
            self.redactor,
            body_file=file,
        )
        return Finding(
            replay=kept.id,
            case=kept.case,
            expected=kept.expected,
            seen=kept.seen,
            place=place,
            body=self._body(request.body),
            curl=curl,
            exchanges=tuple(self._exchange(step, canary) for step in steps),
            steady=steady,
            note=note,
        )

    def _body(self, body: bytes) -> Body | None:
        if not body:
            return None
        cut = len(body) > MAX_SHOWN_BODY
        shown = self.redactor.data(body)[:MAX_SHOWN_BODY]
        try:
            return Body(encoding="text", data=shown.decode("utf-8"), size=len(body), cut=cut)
        except UnicodeDecodeError:
            data = base64.b64encode(shown).decode("ascii")
            return Body(encoding="base64", data=data, size=len(body), cut=cut)

    def _exchange(self, exchange: wire.Exchange, canary: str) -> Exchange:
        request = exchange.request
        headers = self.redactor.headers(request.headers)
        content_type = exchange.header("content-type")
        excerpt = self.redactor.text(exchange.text)[:MAX_EXCERPT]
        return Exchange(
            request=Request(
                method=request.method,
                url=self.redactor.text(
                    joined(self.base_url, request.path) if request.path else self.base_url
                ),
                headers=tuple(Header(name=name, value=value) for name, value in headers),
                body=self._body(request.body),
            ),
            response=Response(
                status=exchange.status,
                content_type=content_type and shown_words(content_type, self.redactor),
                end=exchange.end,
                excerpt=excerpt.replace(canary, "[the marker]") if canary else excerpt,
            ),
        )
