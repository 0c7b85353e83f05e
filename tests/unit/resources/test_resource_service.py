"""Apply is all or nothing, loses nothing, and never overwrites what somebody else saved."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.access import audit
from core.errors import Denied, Invalid, NotFound, Precondition, StaleETag
from core.resources import service
from core.resources.manifests import parse_documents
from core.resources.text import write_documents
from core.storage import access, changes
from tests.unit.resources.desk import Desk
from tests.unit.resources.writing import flow, text_of, trigger

ONCE = {"kind": "schedule", "schedule": {"type": "once", "at": "2026-03-02T10:00:00Z"}}
NEEDS_N: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def with_etag(envelope: dict[str, Any], etag: str) -> dict[str, Any]:
    return envelope | {"metadata": envelope["metadata"] | {"eTag": etag}}


def faults(desk: Desk, *envelopes: dict[str, Any], **options: bool) -> list[str]:
    with pytest.raises(Invalid) as caught:
        desk.apply(*envelopes, **options)
    return [fault.sentence() for fault in caught.value.faults]


# -- creating and changing ------------------------------------------------------------------------------------------


def test_a_trigger_is_created_disabled_unless_its_manifest_says_otherwise(desk: Desk) -> None:
    desk.apply(flow(), trigger("quiet"), trigger("loud", enabled=True))
    assert [desk.get("Trigger", name).enabled for name in ("quiet", "loud")] == [False, True]


def test_a_flow_in_the_same_file_counts_wherever_it_stands(desk: Desk) -> None:
    answers = desk.apply(trigger(), flow())
    assert [(one.kind, one.action, one.generation) for one in answers] == [
        ("Trigger", "created", 1),
        ("Flow", "created", 1),
    ]
    assert answers[1].published_version == 1
    assert [one.path for one in answers[1].changes] == ["definition.steps"]


def test_get_and_apply_changes_nothing(desk: Desk) -> None:
    written = trigger(
        misfireThreshold="PT30S", target={"flow": {"version": 1, "name": "import"}}, input={"b": 1, "a": "07"}
    )
    written["metadata"] |= {"tags": ["b", "a"], "annotations": {"z": "1e3", "a": "yes"}}
    desk.apply(flow(), written)
    before = [desk.manifest(kind, name) for kind, name in (("Trigger", "nightly"), ("Flow", "import"))]
    desk.clock.advance(timedelta(hours=1))
    answers = desk.apply_text(write_documents(before))
    assert [one.action for one in answers] == ["unchanged", "unchanged"]
    assert all("ignored" in one.notes[0] for one in answers)
    assert [desk.manifest(kind, name) for kind, name in (("Trigger", "nightly"), ("Flow", "import"))] == before
    kept = dict(desk.get("Trigger", "nightly").definition)
    assert list(kept["input"]) == ["b", "a"]
    assert kept == written["definition"]


def test_a_change_of_the_definition_makes_a_generation_and_one_of_metadata_does_not(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    first = desk.get("Trigger", "nightly")
    tagged = trigger()
    tagged["metadata"]["tags"] = ["night"]
    desk.apply(tagged)
    second = desk.get("Trigger", "nightly")
    assert (second.generation, second.etag == first.etag) == (1, False)
    desk.apply(trigger(description="new"))
    third = desk.get("Trigger", "nightly")
    assert (third.generation, third.document.tags) == (2, ())
    assert len({first.etag, second.etag, third.etag}) == 3


def test_the_order_of_keys_is_no_change(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    turned = trigger()
    turned["definition"] = dict(reversed(turned["definition"].items()))
    assert desk.apply(turned)[0].action == "unchanged"


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), (1, True), (0, False), ("1", 1), (None, "")])
def test_values_that_python_holds_equal_are_a_change(desk: Desk, before: Any, after: Any) -> None:
    desk.apply(flow(), trigger(input={"a": before}))
    (answer,) = desk.apply(trigger(input={"a": after}))
    assert answer.action == "configured"
    assert [(one.path, one.before, one.after) for one in answer.changes] == [("definition.input.a", before, after)]


def test_a_save_tells_each_field_that_it_changes(desk: Desk) -> None:
    desk.apply(flow(), trigger(description="old", input={"a": [1, 2], "b": 1}))
    changed = trigger(description="new", input={"a": [1, 3]}, enabled=True)
    changed["metadata"]["tags"] = ["x"]
    (answer,) = desk.apply(changed)
    assert {one.path: (one.before, one.after) for one in answer.changes} == {
        "metadata.tags": (None, ["x"]),
        "definition.description": ("old", "new"),
        "definition.input.a[1]": (2, 3),
        "definition.input.b": (1, None),
        "definition.enabled": (None, True),
    }


def test_every_generation_is_kept(desk: Desk) -> None:
    desk.apply(flow(), trigger(description="one"))
    desk.clock.advance(timedelta(hours=1))
    desk.apply(trigger(description="two"))
    with desk.store.read() as tx:
        found = service.revisions(tx, desk.scope, "Trigger", "default", "nightly")
    assert [(one.generation, one.definition["description"], one.principal) for one in found] == [
        (2, "two", "ann"),
        (1, "one", "ann"),
    ]
    assert found[0].created_at - found[1].created_at == timedelta(hours=1)


def test_an_older_generation_can_be_saved_again(desk: Desk) -> None:
    desk.apply(flow(), trigger(description="one"))
    desk.apply(trigger(description="two"))
    with desk.store.write() as tx:
        stored = service.get(tx, desk.scope, "Trigger", "default", "nightly")
        answer = service.revert(tx, desk.scope, stored, 1, now=desk.clock.now(), hooks=desk.hooks)
        with pytest.raises(NotFound, match="has no generation 9"):
            service.revert(tx, desk.scope, stored, 9, now=desk.clock.now())
    assert (answer.action, answer.generation) == ("configured", 3)
    assert desk.get("Trigger", "nightly").definition["description"] == "one"


def test_whoever_follows_triggers_is_told_of_each_change_and_of_nothing_else(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    desk.apply(trigger())
    desk.apply(trigger(enabled=True))
    uid = desk.get("Trigger", "nightly").uid
    desk.delete("Trigger", "nightly")
    assert desk.hooks.told == [("saved", "nightly", None), ("saved", "nightly", 1), ("deleted", uid, None)]


def test_changes_wake_and_are_audited_without_payload(desk: Desk) -> None:
    desk.apply(flow(), trigger(input={"colour": "ultramarine"}))
    stored = desk.get("Trigger", "nightly")
    with desk.store.read() as tx:
        assert stored.uid in changes.since(tx, 0)[1]["trigger"]
        newest = audit.recent(tx, desk.scope, 1)[0]
    assert (newest["action"], newest["kind"], newest["name"], newest["uid"]) == (
        "create",
        "Trigger",
        "nightly",
        stored.uid,
    )
    assert "ultramarine" not in str(newest)


# -- all or nothing -------------------------------------------------------------------------------------------------


def test_one_fault_in_a_file_stores_nothing_of_it(desk: Desk) -> None:
    before = desk.store.data_version()
    bad = trigger("bad", target={"flow": {"name": "nowhere"}})
    (sentence,) = faults(desk, flow("import"), trigger("good"), bad)
    where, _, what = sentence.partition(": ")
    assert where == "document 3 (Trigger bad), definition.target.flow"
    assert what == "there is no flow default/nowhere; apply it, or correct the name"
    assert desk.store.data_version() == before
    assert desk.names("Trigger") + desk.names("Flow") == []


def test_all_faults_that_only_the_database_knows_come_at_once(desk: Desk) -> None:
    late = trigger("late", source={"kind": "schedule", "schedule": {"type": "once", "at": "2020-01-01T00:00:00Z"}})
    missing = trigger("missing", target={"flow": {"name": "nowhere"}})
    wrong = trigger("wrong", input={"n": "x"})
    found = faults(desk, late, missing, wrong, flow(inputSchema=NEEDS_N))
    assert [sentence.split(",")[0] for sentence in found] == [
        "document 1 (Trigger late)",
        "document 1 (Trigger late)",
        "document 2 (Trigger missing)",
        "document 3 (Trigger wrong)",
    ]


def test_a_dry_run_tells_all_and_keeps_nothing(desk: Desk) -> None:
    desk.apply(flow(), trigger("old"))
    with desk.store.read() as tx:
        before = (changes.latest(tx), len(audit.recent(tx, desk.scope, 0)))
    answers = desk.apply(flow(steps=[{"id": "new", "wait": {"for": "PT1S"}}]), trigger(), dry_run=True, prune=True)
    assert [(one.name, one.action) for one in answers] == [
        ("import", "configured"),
        ("nightly", "created"),
        ("old", "deleted"),
    ]
    with desk.store.read() as tx:
        assert (changes.latest(tx), len(audit.recent(tx, desk.scope, 0))) == before
    assert desk.names("Trigger") == ["old"]


def test_a_dry_run_finds_the_faults_too(desk: Desk) -> None:
    assert faults(desk, trigger(), dry_run=True)


def test_a_diff_needs_no_right_to_write(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    viewer = desk.member("vic", "Viewer")
    documents = parse_documents(text_of(flow(), trigger(description="new"), trigger("other")))
    with desk.store.read() as tx:
        answers = service.diff(tx, viewer, documents)
    assert [(one.name, one.action, one.generation) for one in answers] == [
        ("import", "unchanged", 1),
        ("nightly", "configured", 2),
        ("other", "created", 1),
    ]


# -- two at once ----------------------------------------------------------------------------------------------------


def test_a_stale_etag_is_refused_with_what_is_stored_now(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    read = desk.get("Trigger", "nightly").etag
    desk.apply(trigger(description="theirs"))
    with pytest.raises(StaleETag) as caught:
        desk.apply(with_etag(trigger(description="mine"), read))
    assert caught.value.exit_status == 4
    assert caught.value.stored["definition"]["description"] == "theirs"
    assert desk.get("Trigger", "nightly").definition["description"] == "theirs"
    desk.apply(with_etag(trigger(description="mine"), caught.value.stored["metadata"]["eTag"]))
    assert desk.get("Trigger", "nightly").definition["description"] == "mine"


def test_an_etag_of_what_was_deleted_meanwhile_is_refused(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    read = desk.get("Trigger", "nightly").etag
    desk.delete("Trigger", "nightly")
    with pytest.raises(Precondition) as caught:
        desk.apply(with_etag(trigger(), read))
    assert "remove metadata.eTag" in caught.value.remedy


def test_going_back_and_forth_never_gives_an_old_etag_again(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    seen = []
    for words in ("a", "b", "a", "b"):
        desk.apply(trigger(description=words))
        seen.append(desk.get("Trigger", "nightly").etag)
    assert len(set(seen)) == 4


# -- deleting -------------------------------------------------------------------------------------------------------


def test_the_same_name_applied_again_is_another_resource(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    first = desk.get("Trigger", "nightly")
    assert desk.delete("Trigger", "nightly").action == "deleted"
    with pytest.raises(NotFound):
        desk.get("Trigger", "nightly")
    desk.apply(trigger())
    second = desk.get("Trigger", "nightly")
    assert (second.generation, second.uid == first.uid, second.etag == first.etag) == (1, False, False)
    with desk.store.read() as tx:
        assert tx.scalar(text("SELECT count(*) FROM revision WHERE uid = :uid").bindparams(uid=first.uid)) == 1


def test_deleting_a_flow_names_the_triggers_that_lose_their_target(desk: Desk) -> None:
    desk.apply(flow(), trigger("one"), trigger("two"))
    (note,) = desk.delete("Flow", "import").notes
    assert "one, two" in note


def test_prune_deletes_only_what_shares_kind_and_namespace_with_the_file(desk: Desk) -> None:
    elsewhere = trigger("elsewhere")
    elsewhere["metadata"]["namespace"] = "ops"
    desk.apply(flow(), flow("spare"), trigger("kept"), trigger("gone"), elsewhere)
    answers = desk.apply(trigger("kept"), prune=True)
    assert [(one.name, one.action) for one in answers] == [("kept", "unchanged"), ("gone", "deleted")]
    assert desk.names("Trigger") == ["kept", "elsewhere"]
    assert desk.names("Flow") == ["import", "spare"]


def test_a_name_that_is_not_there_says_which_was_meant(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    with pytest.raises(NotFound) as caught:
        desk.get("Trigger", "nightl")
    assert caught.value.sentence() == "there is no Trigger nightl in namespace default; did you mean nightly?"
    with desk.store.read() as tx, pytest.raises(NotFound) as caught:
        service.get(tx, desk.scope, "trigger", "ops", "nightly")
    assert caught.value.remedy == "namespace default has one"


# -- what the time and the target say -------------------------------------------------------------------------------


def test_a_rule_that_can_never_fire_again_is_refused_on_create_and_on_enable(desk: Desk) -> None:
    desk.apply(flow(), trigger(source=ONCE))
    desk.clock.advance(timedelta(hours=2))
    (sentence,) = faults(desk, trigger("again", source=ONCE))
    assert sentence.startswith("definition.source.schedule.at: can never fire again")
    (sentence,) = faults(desk, trigger(source=ONCE, enabled=True))
    assert "can never fire again" in sentence


def test_a_past_time_does_not_stop_a_rename_nor_a_disabling(desk: Desk) -> None:
    desk.apply(flow(), trigger(source=ONCE, enabled=True))
    desk.clock.advance(timedelta(hours=2))
    desk.apply(trigger(source=ONCE, enabled=True, displayName="Renamed"))
    desk.apply(trigger(source=ONCE, enabled=False, displayName="Renamed"))
    assert desk.get("Trigger", "nightly").generation == 3


def test_a_pinned_version_must_be_published(desk: Desk) -> None:
    desk.apply(flow())
    (sentence,) = faults(desk, trigger(target={"flow": {"name": "import", "version": 2}}))
    assert "definition.target.flow: flow default/import has no version 2" in sentence


def test_a_target_in_the_triggers_own_namespace_is_pointed_out(desk: Desk) -> None:
    mine, target = trigger(), flow()
    mine["metadata"]["namespace"] = target["metadata"]["namespace"] = "ops"
    (sentence,) = faults(desk, target, mine)
    assert sentence.endswith("write namespace: ops to mean the one there")


def test_input_is_checked_by_the_flows_schema_with_the_field(desk: Desk) -> None:
    desk.apply(flow(inputSchema=NEEDS_N))
    assert faults(desk, trigger())[0].startswith("definition.input")
    assert faults(desk, trigger(input={"n": "x"}))[0].startswith("definition.input.n")
    desk.apply(trigger(input={"n": 1}))


def test_a_trigger_whose_flow_has_gone_can_still_be_disabled_and_renamed(desk: Desk) -> None:
    desk.apply(flow(), trigger(enabled=True))
    desk.delete("Flow", "import")
    desk.apply(trigger(enabled=True, displayName="Renamed"))
    desk.set_enabled("nightly", enabled=False)
    with pytest.raises(Invalid):
        desk.set_enabled("nightly", enabled=True)


def test_another_workspaces_flow_cannot_be_reached(desk: Desk) -> None:
    desk.apply(flow())
    with desk.store.write() as tx:
        access.add_workspace(tx, "other", desk.scope.tenant_id, "other")
        tx.run(text("UPDATE resource SET workspace_id = 'other'"))
    assert "there is no flow default/import" in faults(desk, trigger())[0]
    with pytest.raises(NotFound):
        desk.get("Flow", "import")


# -- Flows ----------------------------------------------------------------------------------------------------------


def test_a_later_change_of_a_flow_is_a_draft_and_says_how_to_publish_it(desk: Desk) -> None:
    desk.apply(flow())
    (answer,) = desk.apply(flow(description="new"))
    assert answer.published_version is None
    assert answer.notes == (
        "saved as a draft, version 1 stays active; publish it with: triggerdeck publish import --activate",
    )
    assert desk.manifest("Flow", "import")["status"] == {
        "observedGeneration": 2,
        "activeVersion": 1,
        "newestVersion": 1,
    }


def test_a_draft_that_goes_back_to_the_active_version_has_nothing_to_publish(desk: Desk) -> None:
    desk.apply(flow())
    desk.apply(flow(description="new"))
    assert "nothing to publish" in desk.apply(flow())[0].notes[0]


# -- who ------------------------------------------------------------------------------------------------------------


def test_a_viewer_reads_and_changes_nothing(desk: Desk) -> None:
    desk.apply(flow(), trigger())
    viewer = desk.member("vic", "Viewer")
    assert desk.get("Trigger", "nightly", scope=viewer).name == "nightly"
    with pytest.raises(Denied):
        desk.apply(trigger(description="new"), scope=viewer)
    with pytest.raises(Denied):
        desk.delete("Trigger", "nightly", scope=viewer)
    with pytest.raises(Denied):
        desk.set_enabled("nightly", enabled=True, scope=viewer)


def test_saving_an_enabled_trigger_of_somebody_else_says_so_and_asks(desk: Desk) -> None:
    desk.apply(flow(), trigger(enabled=True))
    bob = desk.member("bob", "Admin")
    with pytest.raises(Precondition) as caught:
        desk.apply(trigger(enabled=True, description="new"), scope=bob)
    assert "fires as bob from now on, no longer as ann" in caught.value.message
    assert desk.get("Trigger", "nightly").principal == "ann"
    (answer,) = desk.apply(trigger(enabled=True, description="new"), scope=bob, confirm_scope=True)
    assert "no longer as ann" in answer.notes[0]
    assert desk.get("Trigger", "nightly").principal == "bob"


def test_applying_what_is_stored_replaces_nobody(desk: Desk) -> None:
    desk.apply(flow(), trigger(enabled=True))
    bob = desk.member("bob", "Admin")
    assert desk.apply(trigger(enabled=True), scope=bob)[0].action == "unchanged"
    tagged = trigger(enabled=True)
    tagged["metadata"]["tags"] = ["x"]
    desk.apply(tagged, scope=bob)
    assert desk.get("Trigger", "nightly").principal == "ann"


def test_disabling_takes_nobodys_place_and_enabling_does(desk: Desk) -> None:
    desk.apply(flow(), trigger(enabled=True))
    bob = desk.member("bob", "Admin")
    desk.set_enabled("nightly", enabled=False, scope=bob)
    assert desk.get("Trigger", "nightly").principal == "ann"
    assert "no longer as ann" in desk.set_enabled("nightly", enabled=True, scope=bob).notes[0]
    assert desk.get("Trigger", "nightly").principal == "bob"
