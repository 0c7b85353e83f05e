from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from core.errors import Invalid
from core.flows.definition import parse_flow
from core.flows.steps import Ask, Command, Http, Python, Wait

ECHO = {"id": "one", "command": {"argv": ["echo", "hi"]}}


def faults(definition: Any) -> dict[str, str]:
    """Return field → sentence of everything that is wrong."""
    with pytest.raises(Invalid) as refused:
        parse_flow(definition)
    return {fault.field: fault.sentence() for fault in refused.value.faults}


def step_faults(**step: Any) -> dict[str, str]:
    found = faults({"steps": [{"id": "one", **step}]})
    return {field.removeprefix("steps[0]").removeprefix("."): text for field, text in found.items()}


def test_the_designs_own_example_is_a_flow() -> None:
    flow = parse_flow(
        {
            "displayName": "Import",
            "inputSchema": {"type": "object"},
            "steps": [
                {
                    "id": "fetch",
                    "command": {"argv": ["python3", "fetch.py"]},
                    "timeout": "PT5M",
                    "retry": {"attempts": 3, "backoff": "PT2S"},
                },
                {
                    "id": "release",
                    "ask": {
                        "kind": "approvalRequired",
                        "title": "Release {{ steps.fetch.output.rows }} rows?",
                        "schema": {"type": "object"},
                        "expiresAfter": "P1D",
                    },
                },
                {
                    "id": "post",
                    "when": "steps.release.output.decision == 'approved'",
                    "http": {"method": "POST", "url": "http://localhost/"},
                },
            ],
        }
    )
    assert [step.kind for step in flow.steps] == ["command", "ask", "http"]
    fetch, release, post = flow.steps
    assert fetch.timeout == timedelta(minutes=5)
    assert fetch.retry.attempts == 3
    assert fetch.action == Command(("python3", "fetch.py"))
    assert isinstance(release.action, Ask)
    assert release.action.expires_after == timedelta(days=1)
    assert isinstance(post.action, Http)
    assert post.on_crash == "rerun"


def test_each_kind_of_step_has_its_defaults() -> None:
    steps = [
        {"id": "call", "python": {"callable": "package.module:function"}},
        {"id": "ask", "ask": {"kind": "confirmationRequired", "title": "Go?"}},
        {"id": "pause", "wait": {"for": "PT5S"}},
    ]
    call, ask, pause = parse_flow({"steps": steps}).steps
    assert call.action == Python("package.module:function")
    assert isinstance(ask.action, Ask)
    assert (ask.action.expires_after, ask.action.on_reject) == (timedelta(days=7), "fail")
    assert pause.action == Wait(timedelta(seconds=5))


def test_backoff_doubles_up_to_its_bound() -> None:
    retry = parse_flow({"steps": [{**ECHO, "retry": {"attempts": 9, "backoff": "PT2S", "maxBackoff": "PT7S"}}]})
    pauses = [retry.steps[0].retry.pause_after(attempt).total_seconds() for attempt in (1, 2, 3, 90)]
    assert pauses == [2, 4, 7, 7]


def test_all_faults_of_a_flow_are_told_at_once_with_their_fields() -> None:
    definition = {
        "displayName": "",
        "stepz": [],
        "inputSchema": {"type": "text"},
        "steps": [
            {"id": "A", "command": {"argv": "ls -l"}, "onCrash": "pray"},
            {"id": "two", "http": {"url": "ftp://x", "methd": "GET"}, "timeout": "P1M"},
        ],
    }
    assert set(faults(definition)) == {
        "displayName",
        "stepz",
        "inputSchema.type",
        "steps[0].id",
        "steps[0].command.argv",
        "steps[0].onCrash",
        "steps[1].http.url",
        "steps[1].http.methd",
        "steps[1].timeout",
    }


@pytest.mark.parametrize("definition", [None, [], "text", 7])
def test_what_is_not_a_mapping_is_no_flow(definition: Any) -> None:
    assert "mapping" in next(iter(faults(definition).values()))


def test_a_flow_has_one_to_a_hundred_steps() -> None:
    assert "steps" in faults({})
    assert "steps" in faults({"steps": []})
    many = [{**ECHO, "id": f"s{number}"} for number in range(101)]
    assert "101 steps" in faults({"steps": many})["steps"]
    assert len(parse_flow({"steps": many[:100]}).steps) == 100


def test_a_step_is_exactly_one_thing() -> None:
    assert "none of them" in step_faults()[""]
    assert "command and wait" in step_faults(command={"argv": ["true"]}, wait={"for": "PT1S"})[""]


def test_an_unknown_field_is_refused_with_the_closest_known_one() -> None:
    assert "did you mean command?" in step_faults(comand={"argv": ["true"]})["comand"]
    assert "did you mean argv?" in step_faults(command={"argvs": ["true"]})["command.argvs"]
    assert "did you mean onCrash?" in step_faults(command={"argv": ["true"]}, oncrash="fail")["oncrash"]


def test_ids_are_plain_and_unique() -> None:
    assert "one" in faults({"steps": [ECHO, ECHO]})["steps[1].id"]
    assert "steps[0].id" in faults({"steps": [{**ECHO, "id": "Bad-Name"}]})


def test_a_shell_string_is_refused() -> None:
    assert "must be a list" in step_faults(command={"argv": "rm -rf /"})["command.argv"]
    assert "quotes" in step_faults(command={"argv": ["sleep", 5]})["command.argv[1]"]
    assert "command.argv" in step_faults(command={"argv": []})


@pytest.mark.parametrize("policy", ["rerun", "fail", "ask"])
def test_a_crash_runs_a_step_again_or_fails_it_or_asks(policy: str) -> None:
    assert parse_flow({"steps": [{**ECHO, "onCrash": policy}]}).steps[0].on_crash == policy


def test_another_word_for_a_crash_is_refused() -> None:
    assert "must be one of rerun, fail, ask" in step_faults(command={"argv": ["true"]}, onCrash="maybe")["onCrash"]


def test_nobody_is_asked_whether_a_wait_or_a_question_finished() -> None:
    assert "no meaning" in step_faults(wait={"for": "PT1S"}, onCrash="ask")["onCrash"]
    question = {"kind": "confirmationRequired", "title": "Go on?"}
    assert "no meaning" in step_faults(ask=question, onCrash="ask")["onCrash"]


@pytest.mark.parametrize(
    "text",
    ["5m", "PT", "P1M", "P1Y", "P0.5M", "P0.5M1D", "PT0S", "-PT5S", "P99999D", 5, True, "PT1e400S"]
    + [f"PT{'9' * digits}H" for digits in (12, 40, 5000)],
)
def test_a_duration_has_a_fixed_sane_length(text: Any) -> None:
    assert "timeout" in step_faults(command={"argv": ["true"]}, timeout=text)


def test_waits_and_questions_take_neither_timeout_nor_retry() -> None:
    found = step_faults(wait={"for": "PT1S"}, timeout="PT1S", retry={"attempts": 2})
    assert set(found) == {"timeout", "retry"}


def test_a_reference_to_a_later_or_missing_step_is_refused() -> None:
    steps = [
        {"id": "a", "command": {"argv": ["echo", "{{ steps.b.output }}"]}},
        {"id": "b", "command": {"argv": ["echo"]}, "when": "steps.aa.output == 1"},
        {"id": "c", "command": {"argv": ["echo", "{{ steps['a'].output }}"]}},
    ]
    found = faults({"steps": steps})
    assert set(found) == {"steps[0].command.argv[1]", "steps[1].when"}
    assert "does not come earlier" in found["steps[0].command.argv[1]"]
    assert "did you mean a?" in found["steps[1].when"]


@pytest.mark.parametrize(
    "text", ["{{ input. }}", "{{ nothing }}", "{% for x in input %}{% endfor %}", "{{ steps[input.x].output }}"]
)
def test_an_expression_that_cannot_work_is_refused_when_it_is_saved(text: str) -> None:
    assert "command.argv[1]" in step_faults(command={"argv": ["echo", text]})


def test_secrets_are_names_in_env_and_headers() -> None:
    step = {"id": "one", "command": {"argv": ["true"], "env": {"TOKEN": {"secretRef": "CRM_TOKEN"}}}}
    assert parse_flow({"steps": [step]}).steps[0].action == Command(
        ("true",), env={"TOKEN": {"secretRef": "CRM_TOKEN"}}
    )
    env = {"A": {"secretRef": "../x"}, "B": {"secret": "x"}, "C": 5, "TRIGGERDECK_X": "x", "1D": "x"}
    found = step_faults(command={"argv": ["true"], "env": env})
    assert set(found) == {f"command.env.{name}" for name in ("A", "B", "C", "TRIGGERDECK_X", "1D")}


def test_an_http_step_says_what_is_wrong_with_it() -> None:
    found = step_faults(
        http={"method": "FETCH", "body": "x", "json": {}, "expect": {"status": 42}, "headers": {"a b": "x"}}
    )
    assert set(found) == {"http.method", "http.url", "http.json", "http.expect.status", "http.headers.a b"}


def test_a_python_step_names_a_function_of_a_module() -> None:
    assert "python.callable" in step_faults(python={"callable": "os.system"})
    assert "python.args" in step_faults(python={"callable": "m:f", "args": "x"})


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        ({"title": "x"}, "ask.kind"),
        ({"kind": "approvalRequired"}, "ask.title"),
        ({"kind": "choiceRequired", "title": "x"}, "ask.choices"),
        ({"kind": "choiceRequired", "title": "x", "choices": ["a"]}, "ask.choices"),
        ({"kind": "choiceRequired", "title": "x", "choices": ["a", "a"]}, "ask.choices"),
        ({"kind": "inputRequired", "title": "x"}, "ask.schema"),
        ({"kind": "approvalRequired", "title": "x", "choices": ["a", "b"]}, "ask.choices"),
        (
            {"kind": "approvalRequired", "title": "x", "schema": {"type": "object", "properties": 5}},
            "ask.schema.properties",
        ),
        ({"kind": "approvalRequired", "title": "x", "onReject": "retry"}, "ask.onReject"),
        ({"kind": "confirmationRequired", "title": "x", "expiresAfter": "soon"}, "ask.expiresAfter"),
    ],
)
def test_a_question_says_what_is_wrong_with_it(ask: dict[str, Any], field: str) -> None:
    assert set(step_faults(ask=ask)) == {field}


@pytest.mark.parametrize(
    ("wait", "field"),
    [
        ({}, "wait"),
        ({"for": "PT1S", "until": "2030-01-01T00:00:00Z"}, "wait"),
        ({"until": "2030-01-01T00:00:00"}, "wait.until"),
        ({"until": "tomorrow"}, "wait.until"),
    ],
)
def test_a_wait_says_what_is_wrong_with_it(wait: dict[str, Any], field: str) -> None:
    assert set(step_faults(wait=wait)) == {field}


def test_an_input_schema_is_json_schema_and_reaches_for_nothing_outside() -> None:
    assert "inputSchema" in faults({"steps": [ECHO], "inputSchema": {"$ref": "https://example.com/schema"}})
    assert "inputSchema.required" in faults({"steps": [ECHO], "inputSchema": {"required": "rows"}})
    assert "inputSchema" in faults({"steps": [ECHO], "inputSchema": "object"})
