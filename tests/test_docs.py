"""The pages say what is so: links lead somewhere, profiles load, rules and presets are there."""

import importlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hostproof.conformance.catalogue import all_rules
from hostproof.conformance.host_under_test import _is_observation
from hostproof.conformance.preset import preset_names
from hostproof.conformance.profile import profile_from

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(page for page in ROOT.glob("examples/hosts/*/*.md")),
    ]
)
PRESETS = ROOT / "docs/presets"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
VARIABLE = re.compile(r"\$\{(\w+)\}")
RULE = re.compile(r"`([a-z-]+\.[a-z][a-z0-9]*(?:-[a-z0-9]+)+)`")
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)

EXAMPLES = {
    "ag2": ("ag2.test_ag2", None),
    "django-ag-ui": ("django_ag_ui.test_django_ag_ui", None),
    "langgraph": ("langgraph.test_langgraph", "hostproof.toml"),
    "langgraph-outcome": ("langgraph.test_langgraph", "outcome.toml"),
    "pydantic-ai": ("pydantic_ai.test_pydantic_ai", "hostproof.toml"),
    "pydantic-ai-store": ("pydantic_ai.test_pydantic_ai", "kept.toml"),
    "tanstack-ai": ("node.test_node", None),
}
"""The test that says what a preset's host gets wrong, and which of its profiles is meant."""


def named(page):
    return page.relative_to(ROOT).as_posix()


def without_code(text):
    return FENCE.sub("", text)


def anchor(heading):
    """Write a heading as the anchor that it gets on a page."""
    bare = re.sub(r"[^\w\- ]", "", LINK.sub("", heading).strip().lower())
    return bare.replace(" ", "-")


def blocks(language):
    """Give every block of code in a language, and where it stands."""
    return [
        pytest.param(text, id=f"{named(page)}-{number}")
        for page in PAGES
        for number, (kind, text) in enumerate(FENCE.findall(page.read_text()))
        if kind == language
    ]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_to_a_file_and_a_heading(page):
    broken = []
    for link in LINK.findall(without_code(page.read_text())):
        path, _, fragment = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path) if path else page
        if not target.exists() or (
            fragment
            and fragment not in map(anchor, HEADING.findall(without_code(target.read_text())))
        ):
            broken.append(link)

    assert broken == []


@pytest.mark.parametrize("text", blocks("toml"))
def test_every_profile_on_a_page_is_read(text):
    document = {"version": 1} | tomllib.loads(text)
    environ = {name: f"of-{name}" for name in VARIABLE.findall(text)}

    profile = profile_from(document, environ=environ)

    assert {waiver.rule for waiver in profile.waivers} <= all_rules().keys()


def test_there_is_a_page_for_every_preset_and_one_for_them_all():
    pages = {page.stem for page in PRESETS.glob("*.md")}
    index = (PRESETS / "README.md").read_text()

    assert pages == {*preset_names(), "README"}
    assert all(f"[`{name}`]({name}.md)" in index for name in preset_names())


@pytest.mark.parametrize("name", preset_names())
def test_the_page_of_a_preset_names_it_and_stands_on_it(name):
    text = (PRESETS / f"{name}.md").read_text()
    profiles = [tomllib.loads(block) for kind, block in FENCE.findall(text) if kind == "toml"]

    assert text.startswith(f"# {name}\n")
    assert [profile["preset"] for profile in profiles] == [name]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_rule_that_a_page_names_is_there(page):
    families = {rule.partition(".")[0] for rule in all_rules()}
    told = {
        rule
        for rule in RULE.findall(without_code(page.read_text()))
        if rule.partition(".")[0] in families
    }

    assert told <= all_rules().keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_page_of_a_preset_says_what_its_example_is_found_to_break(name):
    module, profile = EXAMPLES[name]
    test = importlib.import_module(f"examples.hosts.{module}")
    waived: Any = getattr(test, "WAIVED", None) or getattr(test, "NO_SERVER_RECORD", ())
    by_design = waived[profile] if isinstance(waived, dict) else waived
    found = {*(test.KNOWN[profile] if profile else test.KNOWN)}
    wrong, _, design = (PRESETS / f"{name}.md").read_text().partition("## By design")

    assert set(ROW.findall(wrong.partition("## What it gets wrong")[2])) == found
    assert set(by_design) <= set(RULE.findall(design))


@pytest.mark.parametrize("name", preset_names())
def test_the_page_of_a_preset_says_what_the_preset_waives(name):
    waivers = profile_from({"version": 1, "preset": name}).waivers
    design = (PRESETS / f"{name}.md").read_text().partition("## By design")[2]

    assert {waiver.rule for waiver in waivers} <= set(RULE.findall(design))


def test_the_observations_that_a_page_shows_are_accepted():
    page = ROOT / "docs/observation.md"
    shown = [json.loads(text) for kind, text in FENCE.findall(page.read_text()) if kind == "json"]

    assert len(shown) == 4
    assert all(map(_is_observation, shown))


@pytest.mark.parametrize(
    "document",
    [
        {"effects": None},
        {"effects": [{"tool": "pay"}]},
        {"modelRequests": [{"system": None}]},
        {"pauses": [{"pending": None}]},
        {"decisions": {}},
    ],
    ids=str,
)
def test_an_observation_of_another_form_is_refused(document):
    assert not _is_observation(document)
