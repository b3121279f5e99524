"""Ask the reference what a drawn case owes, with the facts of the three agents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hostproof.conformance.embedded_profile import embedded_profile
from hostproof.conformance.expectation import Standing, expected_by_reference
from hostproof.reference_impl.embedded import accept_context, accept_state
from hostproof.reference_impl.ijson import read_ijson
from hostproof.reference_impl.refusals import Refusal
from hostproof.reference_impl.turn import ValidatorContext
from hostproof.reference_impl.values import Json, is_record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hostproof.conformance.recording import Owed
    from hostproof.reference_impl.turn import Validator
    from hostproof.strategies.drawn import DrawnCase

THREAD = "0f8fad5b-d9cb-469f-a165-70867728950e"
CANARY = "hp0123456789abcdef00"
SLOTS = {
    "thread": THREAD,
    "run": "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    "plain": "hostproof: say n0123456789",
    "canary": CANARY,
}
HANDED_OUT: dict[str, dict[str, str]] = {
    "fresh": {},
    "question": {"interrupt": "interrupt-1"},
    "spoiled": {"interrupt": "interrupt-1"},
    "client-call": {"call": "call-1"},
}
VALIDATORS: dict[str, Validator] = {"state": accept_state, "context": accept_context}
ENDPOINTS = embedded_profile("http://127.0.0.1", {"alice": "a", "bob": "b"}).endpoints


def slots_of(case: DrawnCase) -> Mapping[str, str]:
    return SLOTS | HANDED_OUT[case.situation]


def text_of(case: DrawnCase) -> bytes:
    return case.text(slots_of(case))


def owed_by_reference(case: DrawnCase) -> Owed | None:
    """Say what a case owes; what the reference's validators say is declared of its values."""
    endpoint = ENDPOINTS[case.endpoint]
    body = read_value(text_of(case))
    if case.endpoint == "carrying" and is_record(body):
        for name, accept in VALIDATORS.items():
            said = "good" if accepts(accept, body.get(name)) else "bad"
            declared: Json = {f"{said}_{name}": body.get(name)}
            endpoint = replace(endpoint, **declared)
    standing = Standing(situation=case.situation, thread=THREAD, slots=HANDED_OUT[case.situation])
    return expected_by_reference(text_of(case), endpoint, standing)


def read_value(text: bytes) -> Json:
    """Read a body as a host does; what is no I-JSON has no members."""
    try:
        return read_ijson(text)
    except Refusal:
        return None


def accepts(validator: Validator, value: Json) -> bool:
    try:
        validator(value, ValidatorContext(thread=THREAD, headers={}))
    except Exception:  # noqa: BLE001 - a validator's own way to say no
        return False
    return True
