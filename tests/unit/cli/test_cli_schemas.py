from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from cli.demo.workspace import MANIFESTS, lay
from core.errors import Precondition
from core.flows.definition import parse_flow
from core.resources.manifests import parse_documents
from core.resources.schema import json_schema

NOW = datetime(2026, 3, 28, 13, 0, tzinfo=UTC)


def example(folder: Path) -> dict[str, str]:
    workspace = lay(folder / "demo", server="http://127.0.0.1:1", anchor=NOW, soon=NOW)
    return {name: workspace.manifest(name) for name in MANIFESTS}


def test_the_example_fits_the_schemas_and_the_core(tmp_path: Path) -> None:
    kinds: list[str] = []
    for text in example(tmp_path).values():
        parse_documents(text)
        for document in yaml.safe_load_all(text):
            jsonschema.validate(document, json_schema(document["kind"]))
            kinds.append(document["kind"])
    assert kinds.count("Trigger") >= 8
    assert kinds.count("Flow") >= 6


def test_each_kind_of_step_in_the_schema_is_one_that_flows_know() -> None:
    items: dict[str, Any] = json_schema("Flow")["properties"]["definition"]["properties"]["steps"]["items"]
    steps: dict[str, Any] = {
        "command": {"argv": ["true"], "cwd": "/", "env": {"A": "b"}, "noWorkExitCode": 3},
        "http": {"method": "GET", "url": "http://127.0.0.1/", "headers": {}, "body": "", "expect": {"status": 200}},
        "python": {"callable": "os:getpid", "args": [], "cwd": "/", "env": {}},
        "ask": {"kind": "approvalRequired", "title": "?", "message": "", "schema": {}, "expiresAfter": "PT1H"},
        "wait": {"for": "PT1S"},
    }
    assert {one["required"][0] for one in items["oneOf"]} == set(steps)
    for kind, action in steps.items():
        step = {"id": "a", kind: action}
        jsonschema.validate(step, items)
        parse_flow({"steps": [step]})


def test_the_example_is_not_laid_over_somebodys_files(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "thesis.txt").write_text("dear reader", encoding="utf-8")
    with pytest.raises(Precondition, match="is not empty"):
        example(tmp_path)
