"""Raw credentials are refused by key and by shape, references and plain text are not."""

from __future__ import annotations

from typing import Any

import pytest

from core.resources.credentials import credential_faults
from tests.unit.resources.writing import faults_of, flow, trigger

KEYS = [
    "apiKey", "accessToken", "privateKey", "authorization", "clientSecret", "credential", "credentials", "password",
    "passphrase", "refreshToken", "secret", "token", "API_KEY", "api-key", "Pass_Word", "CLIENT-SECRET", "x/token",
]  # fmt: skip
SHAPES = [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n", "Bearer abc", "bearer x.y.z", "curl -H 'Authorization: Bearer abc12345'",
    "ghp_0123456789abcdefghij", "github_pat_11ABCDEFG0123456789", "xoxb-123456789012-abc", "AKIAIOSFODNN7EXAMPLE",
    "sk-abcdefghijklmnop1234", "glpat-abcdefgh1234", "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSM",
    "postgres://ann:hunter2@db/app", "see ghp_0123456789abcdefghij there",
]  # fmt: skip
PLAIN = [
    "The Bearer of this", "bearer tokens are refused", "skip-the-line", "task-abcdefghijklmnopqrst", "a ghp_ prefix",
    "https://example.com/a:b@c", "eyJ is how tokens begin", "AKIA", "Basic training", "http://{{ input.host }}/x",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_names_a_credential_is_refused_at_any_depth(key: str) -> None:
    assert [fault.field for fault in credential_faults({"a": [{"b": {key: "x"}}]}, "input")] == [f"input.a[0].b.{key}"]


@pytest.mark.parametrize("key", ["apiKeyRef", "tokenReference", "secretRef", "passwordHint", "tokens", "keyboard"])
def test_a_key_that_holds_a_reference_or_something_else_is_taken(key: str) -> None:
    assert credential_faults({key: "vault/import"}, "") == []


@pytest.mark.parametrize("text", SHAPES)
def test_a_text_in_the_shape_of_a_credential_is_refused_whatever_its_key(text: str) -> None:
    (fault,) = credential_faults({"note": [text]}, "input")
    assert fault.field == "input.note[0]"
    assert fault.code == "raw_credential"
    assert text not in fault.sentence()


@pytest.mark.parametrize("text", PLAIN)
def test_plain_text_is_taken(text: str) -> None:
    assert credential_faults({"note": text}, "") == []


@pytest.mark.parametrize("value", [None, "", {"secretRef": "gh"}, {"vaultReference": "a/b"}])
def test_nothing_and_a_reference_may_stand_under_a_credentials_name(value: Any) -> None:
    assert credential_faults({"token": value}, "") == []


@pytest.mark.parametrize("value", ["x", 5, True, ["x"], {}, {"value": "x"}, {"secretRef": "gh", "or": "x"}])
def test_anything_else_under_a_credentials_name_is_refused(value: Any) -> None:
    assert [fault.field for fault in credential_faults({"token": value}, "")] == ["token"]


def test_a_reference_key_does_not_hide_a_credential() -> None:
    assert credential_faults({"tokenRef": "ghp_0123456789abcdefghij"}, "")


def test_a_triggers_input_and_annotations_are_searched() -> None:
    written = trigger(input={"db": {"pass_word": "x"}}, description="Bearer abc")
    written["metadata"]["annotations"] = {"note": "ghp_0123456789abcdefghij", "api-key": "x"}
    assert set(faults_of(written)) == {
        "definition.input.db.pass_word",
        "definition.description",
        "metadata.annotations.note",
        "metadata.annotations.api-key",
    }


def http(**headers: Any) -> dict[str, Any]:
    return flow(steps=[{"id": "post", "http": {"method": "POST", "url": "http://host/x", "headers": headers}}])


def command(**env: Any) -> dict[str, Any]:
    return flow(steps=[{"id": "run", "command": {"argv": ["run"], "env": env}}])


@pytest.mark.parametrize(
    "written", [http(Authorization="Basic abc"), http(**{"X-Api-Key": "abc"}), http(X="Bearer a1")]
)
def test_a_flows_headers_are_searched(written: dict[str, Any]) -> None:
    (field,) = faults_of(written)
    assert field.startswith("definition.steps[0].http.headers.")


@pytest.mark.parametrize("name", ["DB_PASSWORD", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "TOKEN", "APIKEY"])
def test_a_flows_environment_is_searched_by_the_endings_of_its_names(name: str) -> None:
    assert list(faults_of(command(**{name: "x"}))) == [f"definition.steps[0].command.env.{name}"]


@pytest.mark.parametrize("value", [{"secretRef": "gh"}, "{{ input.ref }}"])
def test_a_flows_environment_may_name_a_secret(value: Any) -> None:
    assert faults_of(command(GITHUB_TOKEN=value)) == {}


def test_a_header_may_be_put_together_from_a_template() -> None:
    assert faults_of(http(Authorization="Bearer {{ input.t }}")) == {}
    assert faults_of(http(Authorization="Bearer abc{{ input.t }}")) != {}


def test_a_schema_may_describe_a_password_and_not_hold_one() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"password": {"type": "string"}}}
    assert faults_of(flow(inputSchema=schema)) == {}
    schema["properties"]["password"]["default"] = "ghp_0123456789abcdefghij"
    assert list(faults_of(flow(inputSchema=schema))) == ["definition.inputSchema.properties.password.default"]


def test_arguments_of_a_command_are_searched() -> None:
    written = flow(steps=[{"id": "a", "command": {"argv": ["curl", "-H", "Authorization: Bearer abcd1234"]}}])
    assert list(faults_of(written)) == ["definition.steps[0].command.argv[2]"]
