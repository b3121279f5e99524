"""Presets: each is a profile, what stands on one says its own, and the command shows them."""

from __future__ import annotations

import tomllib

import pytest
from click.testing import CliRunner

from hostproof.conformance.catalogue import rule_of
from hostproof.conformance.cli import main
from hostproof.conformance.preset import about, document_of, preset_names, preset_text
from hostproof.conformance.profile import ProfileError, load_profile, profile_from
from hostproof.reference_impl.cues import CUES
from hostproof.reference_impl.values import Missing


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_is_a_profile_and_nothing_more(name):
    document = tomllib.loads(preset_text(name))
    profile = profile_from(document, name=name, environ={})

    assert not {"target", "callers", "cues", "effects", "observation", "control"} & set(document)
    assert profile.main_endpoint.keeps_pauses
    assert dict(profile.cues) == {"plain": CUES["plain"]}
    for waiver in profile.waivers:
        assert waiver.kind == "by-design"
        assert rule_of(waiver.rule).level == "must"
    assert profile_from(document_of(name), environ={}).pause == profile.pause


@pytest.mark.parametrize("name", preset_names())
def test_a_preset_says_in_a_line_what_it_is_for(name):
    width = max(map(len, preset_names()))
    assert about(name).endswith(".")
    assert width + 2 + len(about(name)) <= 80


def test_what_a_profile_says_itself_wins_member_by_member():
    profile = profile_from(
        {
            "version": 1,
            "preset": "pydantic-ai",
            "sets": ["safety"],
            "answer": {"yes": True},
            "waivers": [
                {"rule": "effect.race-runs-once", "kind": "by-design", "why": "mine"},
                {"rule": "leak.body", "kind": "by-design", "why": "mine, too"},
            ],
        }
    )
    assert profile.sets == ("safety",)
    assert (profile.answer.kind, profile.answer.yes) == ("resume", True)
    assert (profile.history, profile.ag_ui) == ("client", "1.0")
    whys = {one.rule: one.why for one in profile.waivers}
    assert whys["effect.race-runs-once"] == "mine"
    assert whys["effect.replay-runs-nothing"].startswith("no server record")
    assert len(whys) == len(profile.waivers)


def test_a_presets_no_goes_with_its_yes():
    profile = profile_from({"version": 1, "preset": "ag2", "answer": {"yes": {"approved": True}}})
    assert isinstance(profile.answer.no, Missing)


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(ProfileError, match="preset: is no preset: did you mean langgraph"):
        profile_from({"version": 1, "preset": "langraph"})


def test_the_command_line_names_another_preset(tmp_path):
    path = tmp_path / "hostproof.toml"
    path.write_text('version = 1\npreset = "ag2"\n')
    assert load_profile(path).answer.yes is True
    assert load_profile(path, preset="langgraph").answer.kind == "command"


def test_presets_are_listed_and_shown():
    listed = CliRunner().invoke(main, ["presets"])
    assert [line.split()[0] for line in listed.output.splitlines()] == list(preset_names())
    shown = CliRunner().invoke(main, ["presets", "ag2"])
    assert shown.output == preset_text("ag2")
    unknown = CliRunner().invoke(main, ["presets", "agg2"])
    assert (unknown.exit_code, unknown.output) == (
        2,
        "error: agg2: is no preset: did you mean ag2?\n",
    )
