"""
Rules of the set ``named`` on the host itself: what it refuses before and around the reader.

Source: contract, "Host" (docs/contract.md); RFC 9110, 15.5; RFC 9457, 3; RFC 7493, 2.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hostproof.conformance.fault_sessions import Unleased
from hostproof.conformance.outcome import Accepted, Refused, outcome_of
from hostproof.conformance.rule import Breach, Build, Fault, Rule, RuleSet, Severity, Source
from hostproof.conformance.rules.judging import accepted, owed_refusal
from hostproof.conformance.strict_faults import strict_media_type
from hostproof.reference_impl.problem import problem_status
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.values import Json, is_record, is_text

if TYPE_CHECKING:
    from starlette.responses import Response

    from hostproof.conformance.exchange import Exchange
    from hostproof.conformance.recording import Recording
    from hostproof.reference_impl.host_parts import HostParts
    from hostproof.reference_impl.http_request import Headers

PROBLEM: Final = "application/problem+json"
NAMED: Final[frozenset[RuleSet]] = frozenset({"named"})


def _any_method(parts: HostParts) -> HostParts:
    return replace(parts, check_method=lambda _method: None)


def _any_media_type(parts: HostParts) -> HostParts:
    return replace(parts, check_media_type=lambda _headers: None)


def _anyone(parts: HostParts) -> HostParts:
    def identify(headers: Headers) -> str:
        try:
            return parts.identify(headers)
        except Refusal:
            return "anyone"

    return replace(parts, identify=identify)


def _lenient_json(parts: HostParts) -> HostParts:
    """Parse as the standard library does: duplicates, NaN and surrogates pass."""

    def parse(data: bytes) -> Json:
        try:
            return json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return parts.parse(data)

    return replace(parts, parse=parse)


def _no_lease(parts: HostParts) -> HostParts:
    return replace(parts, sessions=Unleased(parts.sessions))


def _bare_refusal(parts: HostParts) -> HostParts:
    from starlette.responses import JSONResponse

    def write(refusal: Refusal) -> Response:
        document = {"code": refusal.code, "field": refusal.field}
        allow = {"Allow": "POST"} if refusal.status == 405 else None
        return JSONResponse(document, problem_status(refusal), headers=allow)

    return replace(parts, write_refusal=write)


def _without_allow(parts: HostParts) -> HostParts:
    right = parts.write_refusal

    def write(refusal: Refusal) -> Response:
        response = right(refusal)
        if "allow" in response.headers:
            del response.headers["allow"]
        return response

    return replace(parts, write_refusal=write)


def one_runs(recording: Recording) -> Breach | None:
    """Demand that of two runs of a thread at once one goes on and the other is refused."""
    outcomes = [outcome_of(exchange) for exchange in recording.changed]
    ran = [one for one in outcomes if isinstance(one, Accepted)]
    refused = [
        one
        for one in outcomes
        if isinstance(one, Refused) and (one.status, one.code) == (409, "ERR_CONCURRENT_RUN")
    ]
    if len(ran) == 1 and len(refused) == len(outcomes) - 1:
        return None
    return Breach(
        expected="one run, and one refused (HTTP 409, ERR_CONCURRENT_RUN)",
        seen=" and ".join(one.describe() for one in outcomes),
    )


def is_problem(recording: Recording) -> Breach | None:
    """Demand that a refusal is a problem document whose members agree with the answer."""
    for exchange in recording.changed:
        outcome = outcome_of(exchange)
        if not isinstance(outcome, Refused) or outcome.in_stream:
            continue
        if exchange.request.method == "HEAD":
            continue
        wrong = _problem_fault(exchange)
        if wrong is not None:
            return Breach(expected="a problem document (RFC 9457)", seen=wrong, place="body")
    return None


def _problem_fault(exchange: Exchange) -> str | None:
    if exchange.content_type != PROBLEM:
        return f"the media type {exchange.content_type or 'none'}"
    document = exchange.json
    if not is_record(document):
        return "a body that is no JSON object"
    if document.get("status") != exchange.status:
        return "a status member that is not the answer's"
    absent = [name for name in ("type", "title", "code") if not is_text(document.get(name))]
    return f"no {', '.join(absent)}" if absent else None


def allows_post(recording: Recording) -> Breach | None:
    """Demand the ``Allow`` header that a 405 must have."""
    (exchange,) = recording.changed
    allowed = [name.strip() for name in (exchange.header("allow") or "").split(",")]
    if exchange.status != 405 or "POST" in allowed:
        return None
    return Breach(expected="an Allow header that names POST", seen="none", place="header allow")


def _host_rule(
    name: str,
    code: str,
    demand: str,
    build: Build,
    *,
    severity: Severity = "medium",
    cwe: int | None = None,
    clause: str = "Host",
) -> Rule:
    return Rule(
        id=f"host.{name}",
        title=name.replace("-", " "),
        demand=demand,
        source=Source(document="contract", clause=clause),
        sets=NAMED,
        level="must",
        severity=severity,
        cwe=cwe,
        applies=lambda case: (
            case.area == code and case.kind == "wire" and not case.id.startswith("order-")
        ),
        judge=owed_refusal,
        fault=Fault(name=f"host-lets-through-{name}", build=build),
    )


def _read_everything(parts: HostParts) -> HostParts:
    return replace(parts, max_bytes=1 << 30)


def _media_type_first(parts: HostParts) -> HostParts:
    """Look at the media type before asking who is there."""
    right = parts.identify

    def identify(headers: Headers) -> str:
        parts.check_media_type(headers)
        return right(headers)

    return replace(parts, identify=identify)


RULES: Final = (
    _host_rule(
        "method",
        "ERR_METHOD_NOT_ALLOWED",
        "Refuse every method but POST, with 405.",
        _any_method,
        severity="low",
    ),
    Rule(
        id="host.allow-header",
        title="Allow header",
        demand="Name POST in the Allow header of a 405.",
        source=Source(document="RFC 9110", clause="15.5.6"),
        sets=NAMED,
        level="must",
        severity="low",
        cwe=None,
        applies=lambda case: case.id.startswith("method-"),
        judge=allows_post,
        fault=Fault(name="host-forgets-allow", build=_without_allow),
    ),
    _host_rule(
        "identity",
        "ERR_IDENTITY_NOT_VERIFIED",
        "Refuse a request of nobody the host knows, with 401.",
        _anyone,
        severity="critical",
        cwe=306,
    ),
    _host_rule(
        "media-type",
        "ERR_UNSUPPORTED_MEDIA_TYPE",
        "Refuse a body that is not plain JSON in UTF-8, with 415.",
        _any_media_type,
        cwe=436,
    ),
    _host_rule(
        "size",
        "ERR_REQUEST_TOO_LARGE",
        "Refuse a body beyond the limit, with 413.",
        _read_everything,
        cwe=770,
    ),
    _host_rule(
        "json",
        "ERR_INVALID_JSON",
        "Refuse a text that is no I-JSON, or nests too deep, with 400.",
        _lenient_json,
        cwe=20,
    ),
    Rule(
        id="host.order",
        title="order of refusals",
        demand="Where several faults meet, answer with the one the contract decides first.",
        source=Source(document="contract", clause="Host"),
        sets=NAMED,
        level="must",
        severity="low",
        cwe=None,
        applies=lambda case: case.id.startswith("order-"),
        judge=owed_refusal,
        fault=Fault(name="host-looks-at-the-media-type-first", build=_media_type_first),
    ),
    Rule(
        id="host.accepts",
        title="requests that are right",
        demand="Take every spelling of JSON in UTF-8, and every I-JSON text.",
        source=Source(document="contract", clause="Host"),
        sets=NAMED,
        level="must",
        severity="medium",
        cwe=None,
        applies=lambda case: case.area == "accepted" and case.kind == "wire",
        judge=accepted,
        fault=Fault(name="host-refuses-a-charset", build=strict_media_type),
    ),
    Rule(
        id="host.concurrent-run",
        title="one run per thread",
        demand="Refuse a second run of a thread while one is going on, with 409.",
        source=Source(document="contract", clause="Host"),
        sets=NAMED,
        level="must",
        severity="high",
        cwe=362,
        applies=lambda case: case.id == "concurrent-run",
        judge=one_runs,
        fault=Fault(name="host-runs-a-thread-twice-at-once", build=_no_lease),
    ),
    Rule(
        id="host.problem-document",
        title="problem documents",
        demand="Answer a refusal with a problem document that has status and code.",
        source=Source(document="contract", clause="Host"),
        sets=NAMED,
        level="must",
        severity="low",
        cwe=None,
        applies=lambda case: case.owed.code is not None,
        judge=is_problem,
        fault=Fault(
            name="host-refuses-in-plain-json",
            build=_bare_refusal,
            shows_in=frozenset({"thread-id-missing", "media-type-text"}),
        ),
    ),
)
