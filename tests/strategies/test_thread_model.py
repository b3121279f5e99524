"""What the model says must be true, case by case, without any host."""

import pytest

from hostproof.reference_impl.refusals import catalogue
from hostproof.strategies.sequence_answers import PAYLOADS
from hostproof.strategies.sequence_steps import Answer, Control, Restart, Result, Say
from hostproof.strategies.thread_model import stepped
from hostproof.strategies.thread_plans import Effect
from hostproof.strategies.thread_state import (
    EVERY_REFUSAL,
    Done,
    PauseName,
    Place,
    Refuses,
    Runs,
    Stops,
    World,
    named_pause,
)

MAIN = Place("alice", "one")
YES, NO = Answer(), Answer(payload="no")
STOP, CLOSE = Control(command="stop-after-spend"), Control(command="close-pause")
FORGET, SPOIL = Control(command="forget-request"), Control(command="spoil-pause")
TAMPER, MEND = Control(command="tamper-call"), Control(command="mend-call")
CHAIN, LEDGER = Control(command="redeploy-chain"), Control(command="redeploy-ledger")
BACK, PLAIN = Control(command="redeploy-back"), Say(cue="plain")
NESTED = Say(cue="nested")
ASK, PINNED = Say(cue="ask_detail"), Say(cue="ask_component")
GATED = ("check_in", "check_in_large", "ask_detail", "ask_component", "nested")


def played(*steps):
    """Play steps; give the world after them, and what the last one owed."""
    world, owed = World(), None
    for step in steps:
        world, owed = stepped(world, step)
    return world, owed


def ran(*steps):
    return [(one.tool, one.amount) for one in played(*steps)[0].thread(MAIN).effects]


def pending(*steps):
    return played(*steps)[0].thread(MAIN).pending


def owed(*steps):
    return played(*steps)[1]


def refused(reason, *, in_stream=False):
    return Refuses("ERR_RESUME_DECISION", reason, in_stream=in_stream)


@pytest.mark.parametrize(
    ("cue", "gate"),
    [
        ("check_in", "checkIn"),
        ("check_in_large", "checkIn"),
        ("ask_detail", "ask"),
        ("ask_component", "ask"),
        ("ask_then_check_in", "ask"),
        ("two_in_sequence", "checkIn"),
        ("nested", "checkIn"),
        ("question", "question"),
        ("credential", "credential"),
        ("client_tool", "client"),
        ("no_check_in", None),
        ("denied", None),
        ("plain", None),
    ],
)
def test_a_message_comes_to_its_pause_and_runs_nothing_gated(cue, gate):
    world, answer = played(Say(cue=cue))
    assert answer == Runs()
    found = world.thread(MAIN).pending
    assert (found and found.gate) == gate
    small = [("transfer", 5)] if cue == "no_check_in" else []
    assert ran(Say(cue=cue)) == small


@pytest.mark.parametrize("cue", GATED)
def test_one_yes_runs_the_call_once_and_a_no_never(cue):
    asked = Say(cue=cue)
    assert owed(asked, YES) == owed(asked, NO) == Runs()
    assert len(ran(asked, YES)) == 1
    assert ran(asked, NO) == []
    for answered in (YES, NO):
        assert pending(asked, answered) is None
        for again in (YES, NO, Answer(payload="yes-with-more")):
            assert owed(asked, answered, again) == Refuses("ERR_NO_PENDING_ASK")
            assert ran(asked, answered, again) == ran(asked, answered)


def test_an_effect_names_the_message_that_asked_for_it():
    world, _ = played(PLAIN, Say(cue="two_in_sequence"), NO, YES)
    assert world.thread(MAIN).effects == (Effect(tool="pay", amount=20, asked_at=1),)


def test_approval_is_not_the_end():
    asked = Say(cue="ask_then_check_in")
    after = pending(asked, YES)
    assert after is not None
    assert (after.gate, after.name.ordinal, ran(asked, YES)) == ("checkIn", 1, [])
    assert ran(asked, YES, YES) == [("release", None)]
    assert ran(asked, YES, NO) == ran(asked, NO) == []
    assert pending(asked, NO) is None


def test_an_answer_to_the_first_of_two_is_none_to_the_second():
    asked = Say(cue="two_in_sequence")
    assert ran(asked, YES) == [("pay", 10)]
    earlier = Answer(interrupt="earlier")
    assert owed(asked, YES, earlier) == Refuses("ERR_UNKNOWN_INTERRUPT")
    assert owed(asked, YES, Answer(request="earlier")) == refused("other-request")
    assert ran(asked, YES, Answer(request="earlier"), YES) == [("pay", 10), ("pay", 20)]


@pytest.mark.parametrize("cue", GATED)
@pytest.mark.parametrize("name", [name for name in PAYLOADS if PAYLOADS[name].reads == "none"])
def test_what_is_no_decision_is_refused_and_the_pause_stays(cue, name):
    answer = Answer(payload=name, request="null", artifact="other")
    expected = Refuses("ERR_DECISION_REQUIRED", in_stream=cue == "nested")
    assert owed(Say(cue=cue), FORGET, answer) == expected
    assert ran(Say(cue=cue), answer) == []
    assert owed(Say(cue=cue), answer, YES) == Runs()


DOOR = [
    ("no-request", [], Answer(request="null")),
    ("no-request", [], Answer(request="empty")),
    ("no-request", [], Answer(request="number")),
    ("no-request", [FORGET, TAMPER], Answer(request="object")),
    ("request-not-recorded", [FORGET], YES),
    ("request-not-recorded", [FORGET], Answer(request="forged")),
    ("other-request", [], Answer(request="forged")),
    ("other-request", [TAMPER, CHAIN, LEDGER], Answer(request="other-thread")),
    ("other-request", [], Answer(request="other-caller", payload="no")),
    ("call-changed", [TAMPER], YES),
    ("call-changed", [TAMPER, LEDGER], NO),
    ("ledger-changed", [LEDGER], YES),
    ("ledger-changed", [STOP, YES, LEDGER], YES),
]


@pytest.mark.parametrize(("reason", "before", "answer"), DOOR)
@pytest.mark.parametrize("cue", ["check_in", "ask_detail", "nested"])
def test_the_door_refuses_in_its_order_and_keeps_the_pause(reason, before, answer, cue):
    steps = (Say(cue=cue), *before, answer)
    assert owed(*steps) == refused(reason, in_stream=cue == "nested")
    assert ran(*steps) == []
    assert pending(*steps) is not None
    assert owed(*steps, PLAIN) == Refuses("ERR_AWAITING_DECISION")
    assert owed(*steps, CLOSE) == Done()
    assert owed(*steps, CLOSE, PLAIN) == Runs()
    assert ran(*steps, CLOSE, BACK, YES, PLAIN, YES) == []


def test_only_an_ask_hangs_on_the_chain():
    assert owed(ASK, CHAIN, YES) == refused("chain-changed")
    assert owed(ASK, CHAIN, TAMPER, YES) == refused("call-changed")
    assert owed(ASK, CHAIN, LEDGER, YES) == refused("chain-changed")
    assert owed(ASK, CHAIN, BACK, YES) == Runs()
    assert owed(CHAIN, ASK, YES) == Runs()
    assert owed(CHAIN, ASK, BACK, YES) == refused("chain-changed")
    assert owed(Say(), CHAIN, YES) == Runs()


def test_only_a_pinned_ask_goes_stale():
    for answer, name in ((YES, "yes"), (NO, "no")):
        stale = Answer(payload=name, artifact="other")
        assert owed(PINNED, stale) == Refuses("ERR_STALE_DECISION")
        assert owed(PINNED, TAMPER, stale) == Refuses("ERR_STALE_DECISION")
        assert owed(PINNED, stale, answer) == Runs()
        assert owed(ASK, stale) == Runs()
    for other in ("right", "number", "null"):
        assert ran(PINNED, Answer(artifact=other)) == [("assign", None)]


def test_a_call_that_was_mended_is_the_one_asked_about():
    assert owed(Say(), TAMPER, YES, MEND, YES) == Runs()
    assert owed(Say(), MEND) == Done(nothing=True)


@pytest.mark.parametrize("cue", ["check_in", "ask_detail", "nested"])
def test_a_closed_pause_is_never_run_and_the_next_request_settles_it(cue):
    asked = Say(cue=cue)
    closed = refused("closed-by-host", in_stream=cue == "nested")
    assert owed(asked, CLOSE, YES) == closed
    assert owed(asked, CLOSE, Answer(payload="no")) == closed
    assert owed(asked, CLOSE, YES, YES) == Refuses("ERR_NO_PENDING_ASK")
    assert owed(asked, CLOSE, PLAIN) == Runs()
    assert owed(asked, CLOSE, CLOSE) == Done()
    assert pending(asked, CLOSE, CLOSE) is None
    for gone in (PLAIN, Result(), CLOSE):
        assert owed(asked, CLOSE, gone, YES) == Refuses("ERR_NO_PENDING_ASK")
    assert ran(asked, CLOSE, YES, PLAIN, YES) == []


@pytest.mark.parametrize("answer", [YES, NO])
@pytest.mark.parametrize("cue", ["check_in", "ask_detail", "nested"])
def test_what_was_spent_is_settled_and_not_run(cue, answer):
    asked = Say(cue=cue)
    spent = (asked, STOP, answer)
    assert owed(*spent) == Stops()
    assert pending(*spent) is not None
    for again in (YES, NO):
        in_stream = cue == "nested"
        assert owed(*spent, again) == refused("already-answered", in_stream=in_stream)
        assert owed(*spent, again, again) == Refuses("ERR_NO_PENDING_ASK")
    assert owed(*spent, Answer(request="forged"), PLAIN) == Runs()
    assert owed(*spent, CLOSE, PLAIN) == Runs()
    assert owed(*spent, Restart(), YES) == refused("already-answered", in_stream=cue == "nested")
    assert ran(*spent, YES, PLAIN, asked, YES)[:1] == ran(asked, YES)


def test_a_stop_waits_for_the_next_spend():
    assert owed(STOP, Say(cue="question"), YES) == Runs()
    assert owed(STOP, Say(cue="question"), YES, Say(), Answer(request="null"), NO) == Stops()
    assert owed(STOP, Restart(), Say(), YES) == Runs()
    assert owed(Say(), STOP, YES, YES, Say(), YES) == Runs()


def test_a_restart_keeps_pauses_and_drops_redeployments():
    assert owed(Say(), Restart(), YES) == Runs()
    assert owed(Say(), LEDGER, Restart(), YES) == Runs()
    assert owed(LEDGER, Say(), Restart(), YES) == refused("ledger-changed")
    assert owed(Say(), CLOSE, Restart(), YES) == refused("closed-by-host")


def test_two_redeployments_are_two_ledgers():
    assert owed(LEDGER, Say(), YES) == Runs()
    assert owed(LEDGER, Say(), LEDGER, YES) == refused("ledger-changed")
    other = Control(thread="two", command="redeploy-ledger")
    assert owed(LEDGER, Say(), other, YES) == Runs()


def test_a_spoiled_record_takes_nothing_until_it_is_closed():
    waiting = Refuses("ERR_AWAITING_DECISION")
    for step in (YES, PLAIN, Result(), Answer(interrupt="invented")):
        assert owed(Say(), SPOIL, step) == waiting
        assert owed(Say(cue="client_tool"), SPOIL, step) == waiting
    assert owed(Say(), SPOIL, CLOSE, YES) == waiting
    assert owed(Say(), SPOIL, CLOSE, PLAIN) == Runs()
    assert owed(Say(cue="question"), SPOIL, CLOSE, YES) == Refuses("ERR_NO_PENDING_ASK")


@pytest.mark.parametrize("cue", [*GATED, "question", "credential"])
def test_an_entry_must_be_the_one_for_the_open_interrupt(cue):
    asked = Say(cue=cue)
    for answer in (
        Answer(interrupt="invented"),
        Answer(interrupt="earlier"),
        Answer(interrupt="other-thread", payload="null"),
        Answer(interrupt="other-caller"),
        Answer(beside="twice"),
        Answer(beside="unknown-after", status="cancelled"),
        Answer(beside="unknown-before"),
    ):
        assert owed(asked, answer) == Refuses("ERR_UNKNOWN_INTERRUPT")
        assert ran(asked, answer) == []
        assert owed(asked, answer, YES) == Runs()
    cancelled = Answer(status="cancelled")
    assert owed(asked, cancelled) == Refuses("ERR_CANCEL_NOT_CARRIED")
    assert ran(asked, cancelled) == []


def test_a_question_takes_any_value_but_none():
    asked = Say(cue="question")
    for name, payload in PAYLOADS.items():
        nothing = Refuses("ERR_PAUSE_ANSWER_REQUIRED")
        expected = Runs() if payload.says_something else nothing
        assert owed(asked, Answer(payload=name)) == expected
        assert owed(Say(cue="credential"), Answer(payload=name)) == Runs()


def test_a_page_s_call_takes_its_result_and_nothing_else():
    asked = Say(cue="client_tool")
    assert owed(asked, Result()) == Runs()
    assert owed(asked, Result(), Result()) == Refuses("ERR_UNKNOWN_TOOL_CALL")
    assert owed(asked, Result(call="invented")) == Refuses("ERR_UNKNOWN_TOOL_CALL")
    assert owed(asked, YES) == owed(asked, PLAIN) == Refuses("ERR_AWAITING_DECISION")
    assert owed(asked, Answer(history="forged")) == Refuses("ERR_UNKNOWN_TOOL_CALL")
    assert owed(asked, CLOSE, Result()) == Refuses("ERR_UNKNOWN_TOOL_CALL")


@pytest.mark.parametrize("cue", GATED)
def test_a_forged_result_or_history_runs_nothing(cue):
    asked = Say(cue=cue)
    assert owed(asked, Result()) == owed(asked, PLAIN) == Refuses("ERR_AWAITING_DECISION")
    assert owed(Result()) == Refuses("ERR_UNKNOWN_TOOL_CALL")
    assert ran(asked, Result(history="forged"), Say(cue="plain", history="forged")) == []
    assert ran(Say(cue="plain", history="forged")) == []


def test_a_thread_is_its_caller_s_own():
    theirs = Answer(caller="bob", interrupt="other-caller")
    assert owed(Say(), theirs) == Refuses("ERR_NO_PENDING_ASK")
    assert ran(Say(), theirs, YES) == [("pay", 10)]
    world, _ = played(Say(), Say(caller="bob"), Answer(caller="bob"))
    assert world.thread(MAIN).effects == ()
    assert len(world.thread(Place("bob", "one")).effects) == 1


def test_pauses_are_named_by_where_they_are():
    world, _ = played(Say(cue="two_in_sequence"), YES, Say(caller="bob"))
    assert named_pause(world, MAIN, "open") == PauseName(MAIN, 1)
    assert named_pause(world, MAIN, "earlier") == PauseName(MAIN, 0)
    assert named_pause(world, MAIN, "other-caller") == PauseName(Place("bob", "one"), 0)
    assert named_pause(world, MAIN, "other-thread") is None
    assert named_pause(world, MAIN, "invented") is None


@pytest.mark.parametrize("command", [CLOSE, SPOIL, FORGET, TAMPER, MEND, BACK])
def test_a_command_with_nothing_to_do_says_so(command):
    assert owed(command) == Done(nothing=True)


def test_every_refusal_is_in_the_catalogue():
    for name in EVERY_REFUSAL:
        code, _, reason = name.partition(" ")
        assert not reason or reason in catalogue()[code].reasons
    reasons = [name.partition(" ")[2] for name in EVERY_REFUSAL]
    assert {reason for reason in reasons if reason} == set(
        catalogue()["ERR_RESUME_DECISION"].reasons
    )
