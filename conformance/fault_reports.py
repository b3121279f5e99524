"""
Faults that people have met in real agent hosts, row by row: the rule and the fault that show each.

Data only. ``fault_reports_page`` makes docs/fault-reports.md of it. The sentences are ours; the
reports are public.

Source: the reports that the rows name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Report:
    """
    One report.

    Attributes:
        row: its id here.
        source: where it was made: a repository with its issue, change or release.
        did: what the host did.
        shown_by: the rules that judge it, each with the seeded fault that does the same.
        left_out: what of it no case tries, or why none can; "" for nothing.
    """

    row: str
    source: str
    did: str
    shown_by: tuple[tuple[str, str], ...] = ()
    left_out: str = ""


MEASURED: Final = "measured on ag-ui-protocol 1.0.0 and @ag-ui/core 1.0.0"

_CRASH: Final = "live.no-server-error"
_YES: Final = "effect.yes-runs-once"
_PAIRS: Final = "model.results-match-calls"
_ORDERS: Final = "model.no-orders-from-a-page"
_FORGED: Final = "effect.forged-approval-runs-nothing"

REPORTS: Final[tuple[Report, ...]] = (
    # Input that breaks a host.
    Report(
        "BL-001",
        "conductor-oss/conductor#1332",
        "answered 500 to no body, to broken JSON, to null and to an empty object",
        ((_CRASH, "host-crashes-without-a-body"),),
    ),
    Report(
        "BL-002",
        "letta-ai/letta#3303",
        "took an empty list of messages, then failed on its first",
        ((_CRASH, "host-crashes-on-no-messages"),),
    ),
    Report(
        "BL-005",
        "ag-ui-protocol/ag-ui#766",
        "found neither a new message nor an id in a valid body, and failed inside",
        ((_CRASH, "host-crashes-after-an-assistants-message"),),
    ),
    Report(
        "BL-006",
        "ag-ui-protocol/ag-ui#2290",
        "parsed reasoning and activity messages, then had no role for them: the thread was dead",
        ((_CRASH, "host-crashes-on-a-role-it-does-not-map"),),
    ),
    # Right input that a host refuses.
    Report(
        "BL-008",
        "thesysdev/openui#613",
        "refused a small client's body for optional members that it left out",
        (("reader.accepts", "reader-needs-state-and-props"),),
    ),
    Report(
        "BL-009",
        "mistralai/mistral-common#324",
        "failed on an assistant message that has calls and a null text",
        ((_CRASH, "host-crashes-on-null-beside-calls"),),
        "a refusal is right: the two reference models differ on it",
    ),
    Report(
        "BL-010",
        "ag-ui-protocol/ag-ui#2140, #2347",
        "took an optional member that is absent, and not the same one with null",
        (("reader.accepts", "reader-refuses-null-state"),),
    ),
    Report(
        "BL-013",
        MEASURED,
        "took null for a resume and ids in snake case in one language and not in the other",
        (
            ("reader.accepts", "reader-refuses-null-resume"),
            ("reader.thread-id", "reader-runs-snake-case-ids-elsewhere"),
        ),
    ),
    # Input that a host drops.
    Report(
        "BL-014",
        "microsoft/agent-framework#2948",
        "read ids in snake case only, so every request began a thread of its own",
        (("ag-ui.in-09-the-inputs-thread", "host-reads-ids-in-snake-case"),),
    ),
    Report(
        "BL-015",
        "contextablemark/clawg-ui#28",
        "skipped messages whose content is a list, and ran on an empty prompt",
        (("model.sees-the-text", "host-skips-lists-of-parts"),),
    ),
    Report(
        "BL-017",
        "cacheplane/b4run#743",
        "took the page's tools and never read them",
        (("model.sees-client-tools", "host-never-reads-client-tools"),),
    ),
    # Calls and results that do not match.
    Report(
        "BL-018",
        "run-llama/llama_index#22081, #22068",
        "made up an id for a result without one, and kept the orphan for every later turn",
        ((_PAIRS, "host-makes-up-call-ids"),),
    ),
    Report(
        "BL-019",
        "pydantic/pydantic-ai#2101, #5147",
        "handed the result of a call that nobody made to the model",
        ((_PAIRS, "host-hands-orphan-results-on"),),
    ),
    Report(
        "BL-020",
        "ag-ui-protocol/ag-ui#1935",
        "went on with the first of two results, so that the model's provider refused the turn",
        ((_PAIRS, "host-goes-on-with-one-of-two-results"),),
    ),
    Report(
        "BL-022",
        "microsoft/agent-framework#6513",
        "streamed the result of an approved call and did not store it",
        (("history.results-match-calls", "host-streams-a-result-and-forgets-it"),),
    ),
    Report(
        "BL-023",
        "microsoft/agent-framework#6910",
        "lost the calls beside the one that needed approval",
        (("history.keeps-sibling-calls", "host-loses-the-calls-beside"),),
    ),
    Report(
        "BL-025",
        "CopilotKit/CopilotKit#2974; ag-ui-protocol/ag-ui#706",
        "failed on the next message where the page had hung up, or sent fewer messages than it has",
        (
            ("live.good-run", "host-needs-the-whole-history"),
            ("live.serves-after-a-hang-up", "host-loses-its-place-after-a-hang-up"),
        ),
    ),
    # Answers to the wrong question.
    Report(
        "BL-027",
        "ag-ui-protocol/ag-ui#2733",
        "ran the one of two calls that was answered, dropped the other and reported success",
        (("ag-ui.int-08-silence-abandons-nothing", "host-drops-the-question-not-answered"),),
    ),
    Report(
        "BL-028",
        "mastra-ai/mastra#19633",
        "applied a late yes to whatever was open by then",
        (("effect.odd-entries-run-nothing", "host-applies-an-answer-to-what-is-open-now"),),
    ),
    Report(
        "BL-029",
        "agentscope-ai/agentscope-java#2848",
        "announced an interrupt under an id that it did not store",
        (("pause.stored-as-announced", "host-announces-another-id"),),
    ),
    Report(
        "BL-030",
        "langchain-ai/langgraph#2870",
        "used one answer for a second question further down the run",
        (("effect.in-sequence", "host-uses-one-yes-for-all"),),
    ),
    Report(
        "BL-033",
        "ag-ui-protocol/ag-ui#2178",
        "could take one answer at a time only, so that two open questions had no way out",
        (("effect.several-at-once", "host-takes-one-answer-at-a-time"),),
    ),
    Report(
        "BL-036",
        "google/adk-java#688",
        "filed approvals under one id and looked for them under another",
        ((_YES, "host-looks-for-a-yes-under-another-id"),),
    ),
    Report(
        "BL-037",
        "cacheplane/threadplane#889",
        "asked again instead of refusing an answer to no interrupt it knew",
        (("plan.unknown-interrupt", "host-asks-again-for-another-answer"),),
        "an answer in forwardedProps, which no host has to read",
    ),
    Report(
        "BL-039",
        "conductor-oss/conductor#1332",
        "answered 500 to an answer that came after the end",
        ((_CRASH, "host-crashes-on-an-answer-to-nothing"),),
    ),
    # Pauses and answers that are lost.
    Report(
        "BL-040",
        "ag-ui-protocol/ag-ui#2701, #2437",
        "wiped an open question when another run finished",
        (("pause.survives-an-answer", "host-wipes-a-pause-with-another-run"),),
    ),
    Report(
        "BL-041",
        "ag-ui-protocol/ag-ui#1784",
        "took the second answer of a thread for a wish to begin again",
        (("effect.in-sequence", "host-starts-over-on-a-second-answer"),),
    ),
    Report(
        "BL-042",
        "ag-ui-protocol/ag-ui#1839",
        "ran nothing on a yes, and let the model say that it still waits",
        ((_YES, "host-invents-an-answer-after-a-yes"),),
    ),
    Report(
        "BL-043",
        "ag-ui-protocol/ag-ui#2205",
        "reported a pause as a normal end",
        (("ag-ui.int-01-says-it-is-interrupted", "host-reports-a-pause-as-success"),),
    ),
    Report(
        "BL-044",
        "agno-agi/agno#8029",
        "did not find a helper's paused call, started over and reported success",
        ((_YES, "host-loses-a-helpers-pause"),),
    ),
    Report(
        "BL-045",
        "Agenta-AI/agenta#5598",
        "answered an approval without a new message with an empty 200",
        (("live.resumed-run-ends", "host-answers-an-answer-with-nothing"),),
    ),
    Report(
        "BL-046",
        "CopilotKit/CopilotKit#1693",
        "did not wait: it went on at once with nothing for an answer",
        (("pause.stays-open", "host-answers-its-own-question"),),
    ),
    Report(
        "BL-048",
        "openai/openai-agents-python#4244",
        "asked again when context came with the answer",
        (("pause.taken-with-context", "host-asks-again-for-context"),),
    ),
    Report(
        "BL-052",
        "ag-ui-protocol/ag-ui#568",
        "kept the page's call pending after its result had come",
        (("history.settles-client-calls", "host-leaves-a-client-call-pending"),),
    ),
    # Actions that run twice.
    Report(
        "BL-054",
        "microsoft/agent-framework#6851",
        "found an approval again on a later message, and ran its call again",
        (("effect.later-turn-runs-nothing", "host-acts-again-on-a-later-turn"),),
    ),
    Report(
        "BL-056",
        "aegra/aegra#253",
        "let two answers that came together both run the call",
        (("effect.race-runs-once", "host-loses-the-race"),),
        "the same through two replicas, which `hostproof fuzz` tries",
    ),
    Report(
        "BL-058",
        "langchain-ai/langgraph#4397",
        "gave one call several results",
        (("history.one-result-each", "host-gives-a-result-twice"),),
    ),
    Report(
        "BL-059",
        "agno-agi/agno#9869, #9401",
        "took what was open from the answer, so that an approval sent again ran its call again",
        (("effect.replay-runs-nothing", "host-takes-a-replayed-answer"),),
        "several questions that are open at once",
    ),
    Report(
        "BL-060",
        "ag-ui-protocol/ag-ui#643",
        "had the page run its tool again, under another id, after its result",
        (("history.asks-a-page-once", "host-asks-a-page-again"),),
    ),
    Report(
        "BL-062",
        "openai/openai-agents-js#1435",
        "sent the first call's result to the model again with the second",
        ((_PAIRS, "host-sends-an-older-result-again"),),
    ),
    # Decisions that are misread.
    Report(
        "BL-063",
        "mastra-ai/mastra#20487, #20470",
        "resumed without the rule that had asked, and so ran what was declined",
        (
            ("effect.no-never-runs", "host-resumes-without-its-rules"),
            ("effect.decides-after-a-restart", "host-knows-no-rule-after-a-restart"),
        ),
    ),
    Report(
        "BL-064",
        "google/adk-python#7148",
        "noted the verdict and never read it: a declined tool ran",
        (("effect.no-never-runs", "host-runs-on-a-no"),),
    ),
    Report(
        "BL-065",
        "mastra-ai/mastra#21195",
        "took what it could not work out for a yes",
        (("effect.needs-a-decision", "door-lets-through-any-answer"),),
    ),
    Report(
        "BL-066",
        "agno-agi/agno#6491",
        "had its flag the wrong way round: a yes counted as no answer",
        ((_YES, "host-inverts-the-decision"),),
    ),
    Report(
        "BL-067",
        "ag-ui-protocol/ag-ui@e8f3ef76c",
        "took false, 0 and empty values for no answer",
        (("pause.takes-any-value", "door-refuses-falsy-values"),),
    ),
    Report(
        "BL-070",
        "pydantic/pydantic-ai#8081",
        "took values for approvals that are neither true nor false",
        (("effect.needs-a-decision", "door-takes-whatever-is-truthy"),),
    ),
    Report(
        "BL-071",
        "footprintjs/agentfootprint 8.13.0",
        "filed what was no decision as a no of somebody unknown",
        (("record.once", "host-records-a-refused-answer"),),
    ),
    Report(
        "BL-072",
        "langchain-ai/langchain#39247, #38838",
        "switched a gate off because a word in its configuration was misspelt",
        (("effect.never-unasked", "host-switches-a-gate-off"),),
        "the start of a host with that configuration, which no request shows",
    ),
    Report(
        "BL-075",
        "google/adk-go#876",
        "ran the call while the question was open, and nothing after the yes",
        (("effect.waits-for-the-answer", "host-acts-while-it-asks-and-not-after"),),
    ),
    Report(
        "BL-077",
        MEASURED,
        "had nothing against a yes in a cancelled entry, or one interrupt answered twice",
        (("effect.odd-entries-run-nothing", "host-takes-any-yes-in-a-resume"),),
    ),
    # Another call than the approved one.
    Report(
        "BL-078",
        "microsoft/agent-framework#6376",
        "ran the arguments that came back with the approval",
        (("effect.arguments-as-shown", "host-takes-edited-arguments"),),
    ),
    Report(
        "BL-079",
        "extra-org/extra#139",
        "tied the approval to a place in a replay, and ran what the replay proposed there",
        (("effect.arguments-as-shown", "host-runs-what-a-replay-proposes"),),
    ),
    Report(
        "BL-080",
        "langchain-ai/langchain#40166",
        "let an edit name another tool, and ran that without its own gate",
        (("effect.arguments-as-shown", "host-runs-the-tool-an-answer-names"),),
    ),
    Report(
        "BL-083",
        "nicobailon/pi-mcp-adapter#372, #367",
        "took a yes for the session as one to every later call of that tool",
        (("effect.asks-each-time", "host-remembers-a-yes-for-the-session"),),
    ),
    Report(
        "BL-086",
        "footprintjs/agentfootprint 9.47.0",
        "took an answer about another version of what was shown",
        (
            ("effect.needs-the-request", "host-takes-an-answer-about-another-version"),
            ("door.stale-decision", "door-lets-through-stale-decision"),
        ),
    ),
    # Approvals, calls and results that a page makes up.
    Report(
        "BL-087",
        "microsoft/agent-framework#4597, #4596",
        "ran any tool on an approval of a request that it never made",
        ((_FORGED, "host-runs-what-an-approval-brings"),),
    ),
    Report(
        "BL-088",
        "pydantic/pydantic-ai#6709, #6800",
        "kept no record of what it asked: the answer itself was the approval",
        ((_FORGED, "host-takes-the-answer-for-the-record"),),
    ),
    Report(
        "BL-089",
        "vercel/ai#15947, #16068",
        "ran a call of the page's history that was marked as approved",
        ((_FORGED, "host-runs-an-approved-history"),),
    ),
    Report(
        "BL-092",
        "google/adk-python#5545",
        "rebuilt the call from its store without comparing it with what was asked",
        (
            ("effect.needs-the-request", "host-runs-a-call-that-was-tampered-with"),
            ("door.call-changed", "door-lets-through-call-changed"),
        ),
    ),
    # Restarts, expiry and failed runs.
    Report(
        "BL-094",
        "microsoft/agent-framework#7458",
        "used the answer up in a run that failed behind the call, and had no way on from there",
        (
            ("effect.once-after-a-failed-run", "host-runs-again-after-a-failed-run"),
            ("pause.survives-an-answer", "host-is-stuck-after-a-failed-run"),
        ),
        "that the answer sent again finishes the run: a refusal and a message are right, too",
    ),
    Report(
        "BL-095",
        "microsoft/agent-framework#7082",
        "kept what it had asked in one process only",
        (("pause.survives-a-restart", "host-keeps-pauses-in-memory"),),
        "the answer through another replica, which `hostproof fuzz` tries",
    ),
    Report(
        "BL-096",
        "ag-ui-protocol/ag-ui#1581",
        "stored a call after its events had gone out, and dropped the answer that came in between",
        (),
        "whether a pause is stored before its last event: no look inside comes in between",
    ),
    Report(
        "BL-098",
        "openai/openai-agents-js#131",
        "read a stored question back without its id and what came with it",
        (("pause.kept-as-it-was", "host-loses-half-of-a-pause"),),
    ),
    Report(
        "BL-099",
        "ag-ui-protocol/ag-ui#2525",
        "let an open question block its thread for ever",
        (("pause.survives-an-answer", "host-has-no-way-out-of-a-pause"),),
        "a year's wait; that a no is the way out, and not a cancel, is the contract's",
    ),
    Report(
        "BL-102",
        "ag-ui-protocol/ag-ui#1816",
        "took an answer after the question had expired",
        (),
        "a host's clock, which neither requests nor what is observed can move",
    ),
    # Callers and threads.
    Report(
        "BL-104",
        "agno-agi/agno#8885",
        "looked the paused run up without asking whose it is",
        (("effect.bound-to-its-caller", "host-takes-anyones-answer"),),
    ),
    Report(
        "BL-105",
        "aegra/aegra#336",
        "ran a caller's message on another caller's thread",
        (("thread.bound-to-its-caller", "host-shares-threads-between-callers"),),
    ),
    Report(
        "BL-106",
        "ag-ui-protocol/ag-ui#1646",
        "gave a thread's state away on a route that did not ask who calls",
        (("thread.bound-to-its-caller", "host-shows-state-to-whoever-names-the-thread"),),
        "routes beside those of AG-UI, which no profile names",
    ),
    Report(
        "BL-109",
        "Growth-Circle/cadis#1190",
        "let any client answer any open approval",
        (("effect.bound-to-its-caller", "host-lets-anyone-answer-from-anywhere"),),
    ),
    Report(
        "BL-111",
        MEASURED,
        "took an empty thread id, which careless clients would all share",
        (
            ("reader.thread-id", "reader-takes-an-empty-thread-id"),
            ("thread.bound-to-its-caller", "host-shares-the-empty-thread"),
        ),
    ),
    # Authority that a page must not have.
    Report(
        "BL-112",
        "everruns/everruns#1653",
        "put a page's system and developer messages beside its own prompt",
        ((_ORDERS, "host-takes-a-pages-instructions"),),
    ),
    Report(
        "BL-113",
        "veryfront/veryfront-code#4398",
        "filtered a person's messages only, and handed system messages on unread",
        ((_ORDERS, "host-filters-only-a-persons-words"),),
    ),
    Report(
        "BL-115",
        "pydantic/pydantic-ai#3315, #3168, #4087",
        "left its own prompt out as soon as messages came with the turn",
        (("model.keeps-its-instructions", "host-leaves-its-instructions-off-later-turns"),),
    ),
    Report(
        "BL-116",
        "kevincarrogan/django-gandalf#102",
        "put the page's context into its instructions as known facts",
        ((_ORDERS, "host-takes-context-for-instructions"),),
    ),
    Report(
        "BL-118",
        "odysseus-dev/odysseus#4780",
        "joined tool descriptions to its instructions",
        ((_ORDERS, "host-takes-tool-descriptions-for-instructions"),),
    ),
    Report(
        "BL-119",
        "soliplex/soliplex#232",
        "had no rule for a page's tool with the name of its own",
        (
            ("model.own-tools-stay", "host-lets-a-page-replace-its-tool"),
            ("effect.never-unasked", "host-lets-a-name-lift-the-gate"),
        ),
    ),
    Report(
        "BL-122",
        "cloudflare/agents#255",
        "let clients write over its inner state",
        (("state.claims-no-records", "host-merges-a-pages-state"),),
    ),
    Report(
        "BL-124",
        "ag-ui-protocol/ag-ui#2432",
        "fetched the URLs of a page's parts, wherever they led",
        (("page.urls-stay-unfetched", "host-fetches-a-pages-urls"),),
        "URLs of files, whose reading leaves no trace outside",
    ),
    # What a refusal gives away.
    Report(
        "BL-126",
        "agno-agi/agno#5519",
        "repeated the submitted message in its 422",
        (("leak.body", "host-quotes-in-the-body"),),
    ),
    Report(
        "BL-127",
        "Umbrella-IT-Group/metamcp#18",
        "listed every live session in its answer to an unknown one",
        (("leak.other-threads", "host-lists-its-threads"),),
    ),
    Report(
        "BL-128",
        "amd/gaia#2236",
        "sent an exception's text with its paths on the stream",
        (
            ("leak.exception-text", "host-tells-its-exceptions"),
            ("leak.exception-text", "host-tells-a-traceback-in-an-event"),
        ),
    ),
    # Names that are members of every object.
    Report(
        "BL-131",
        "Starcounter-Jack/JSON-Patch#262",
        "could write to the prototype of objects by the path of a patch",
        (("state.patches-no-prototype", "host-patches-the-prototype"),),
        "objects inside a host in another language, which no request shows",
    ),
    Report(
        "BL-132",
        "footprintjs/agentfootprint 9.44.0",
        "looked a thread up as if every object's members were threads",
        ((_CRASH, "host-finds-threads-in-a-prototype"),),
    ),
    # Events around a pause or an error.
    Report(
        "BL-134",
        "agentscope-ai/agentscope-java#2642",
        "sent RUN_FINISHED after RUN_ERROR",
        (("ag-ui.life-07-silent-after-the-end", "host-finishes-after-an-error"),),
    ),
    Report(
        "BL-135",
        "ag-ui-protocol/ag-ui#2668",
        "never showed the call that it asked about",
        (("pause.shows-its-call", "host-asks-about-a-call-it-never-showed"),),
    ),
    Report(
        "BL-136",
        "ag-ui-protocol/ag-ui#2101",
        "finished a paused run with no outcome",
        (("ag-ui.int-01-says-it-is-interrupted", "host-pauses-without-an-outcome"),),
    ),
)
"""Every report, in the order of their kinds."""
