"""Upkeep through the deck: who may, what is told, what is left on the audit trail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.access.roles import permissions_of
from core.deck import Deck
from core.errors import Denied, Invalid
from core.upkeep.incarnation import stamp_path
from tests.integration.upkeep.ward import Ward

CALLS: dict[str, Callable[[Deck, Path], object]] = {
    "repair": lambda deck, _folder: deck.doctor(repair=True),
    "prune": lambda deck, _folder: deck.prune(older_than=timedelta(days=90)),
    "a dry run": lambda deck, _folder: deck.prune(dry_run=True),
    "backup": lambda deck, folder: deck.backup(folder / "copy"),
    "mark": lambda deck, _folder: deck.move_mark("tick", to=deck.clock.now() - timedelta(days=9), note="x"),
}


@pytest.fixture
def deck(ward: Ward) -> Deck:
    ward.trigger("tick")
    return Deck(ward.store, ward.scope, "default", ward.clock)


def as_role(deck: Deck, role: str) -> Deck:
    deck._scope = replace(deck._scope, role=role, permissions=permissions_of(role))
    return deck


@pytest.mark.parametrize(
    ("call", "least"),
    [("repair", "Admin"), ("mark", "Admin"), ("prune", "Owner"), ("a dry run", "Owner"), ("backup", "Owner")],
)
def test_each_call_needs_its_role_and_a_denial_is_audited(deck: Deck, tmp_path: Path, call: str, least: str) -> None:
    below = {"Admin": "Member", "Owner": "Admin"}[least]
    with pytest.raises(Denied):
        CALLS[call](as_role(deck, below), tmp_path)
    CALLS[call](as_role(deck, least), tmp_path)
    outcomes = [event["outcome"] for event in as_role(deck, "Owner").audit()]
    assert "denied" in outcomes


@pytest.mark.parametrize("call", CALLS)
def test_a_read_only_deck_changes_nothing(deck: Deck, ward: Ward, tmp_path: Path, call: str) -> None:
    held = permissions_of("Owner", read_only=True)
    looking = Deck(ward.store, replace(ward.scope, read_only=True, permissions=held), "default", ward.clock)
    with pytest.raises(Denied, match="read-only"):
        CALLS[call](looking, tmp_path)
    assert not (tmp_path / "copy").exists()


def test_a_viewer_may_examine(deck: Deck) -> None:
    assert [finding.code for finding in as_role(deck, "Viewer").doctor().findings] == ["no_worker"]


def test_new_zone_data_is_repaired_from_the_deck(deck: Deck, ward: Ward) -> None:
    ward.sql("INSERT OR REPLACE INTO fact (name, value) VALUES ('zone_data', '1999a')")
    assert "zone_data_changed" in {finding.code for finding in deck.doctor().findings}
    assert "zone_data_changed" not in {finding.code for finding in deck.doctor(repair=True).findings}


def test_an_age_under_an_hour_prunes_nothing(deck: Deck) -> None:
    with pytest.raises(Invalid, match="olderThan: is too short"):
        deck.prune(older_than=timedelta(minutes=59))


def test_a_copy_made_by_the_deck_is_a_whole_database(deck: Deck, tmp_path: Path) -> None:
    report = deck.backup(tmp_path / "copy")
    connection = sqlite3.connect(report.path)
    assert connection.execute("SELECT count(*) FROM trigger_state").fetchone() == (1,)
    connection.close()
    assert not stamp_path(tmp_path / "copy.engine").exists()
