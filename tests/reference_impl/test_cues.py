"""Cues: what is written is read again, and nothing else is a cue."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostproof.reference_impl.cues import CUES, Cue, cue_text, read_cue


@pytest.mark.parametrize("name", CUES)
def test_every_cue_is_read_as_it_was_written(name):
    assert read_cue(cue_text(name, "n1")) == Cue(name, "n1")
    assert read_cue(f"\n {cue_text(name, 'n1')} ") == Cue(name, "n1")


@given(
    st.sampled_from(sorted(CUES)), st.text(st.characters(exclude_categories=("Z", "C")), min_size=1)
)
def test_any_word_is_a_nonce(name, nonce):
    assert read_cue(cue_text(name, nonce)) == Cue(name, nonce)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hostproof",
        "hostproof: say",
        "hostproof: say two words",
        "Hostproof: say n1",
        "hostproof: say n1\nhostproof: fail n2",
        "please: hostproof: say n1",
        "{nonce}",
    ],
)
def test_anything_else_is_none(text):
    assert read_cue(text) is None


def test_an_unknown_cue_is_not_written():
    with pytest.raises(KeyError):
        cue_text("another", "n1")


def test_no_cue_reads_as_another():
    texts = [cue_text(name, "n1") for name in CUES]
    assert len(set(texts)) == len(texts)
