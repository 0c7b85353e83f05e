"""Write the statements of the first look as text: `python -m core.storage.first_look_statements`.

They are the very queries that the deck asks, compiled beforehand, so that a screen need not wait for the database
library to be imported. A test compares the file with what the queries compile to today.
"""

from __future__ import annotations

import json
from typing import Any, cast, get_args, get_type_hints

from sqlalchemy import bindparam
from sqlalchemy.dialects import sqlite

from core.storage import access, read_triggers
from core.storage.first_look import STATEMENTS, order_name
from core.views import TriggerQuery

_LATER = "given later"
_DIALECT = sqlite.dialect(paramstyle="named")
_ORDERS = get_args(get_type_hints(TriggerQuery)["sort"])


def statements_text() -> str:
    """Return the file's content: for each statement its SQL, its constants and the types of its columns."""
    queries = [TriggerQuery(sort=sort, descending=down) for sort in _ORDERS for down in (False, True)]
    workspace_id = _given("workspace_id")
    statements = {
        "place": access.place_named(_given("workspace")),
        "principal": access.principal_named(_given("tenant_id"), _given("name")),
        "membership": access.membership(_given("workspace_id"), _given("principal_id")),
        "letters": read_triggers.letters_of(_given("uid")),
        "count": read_triggers.trigger_count(workspace_id, TriggerQuery()),
    }
    for query in queries:
        statements[order_name(query)] = read_triggers.trigger_rows(workspace_id, query).limit(_given("limit"))
    return json.dumps({name: _compiled(one) for name, one in statements.items()}, indent=1) + "\n"


def _given(name: str) -> str:
    """Return a parameter that is filled in when the statement runs."""
    return cast("str", bindparam(name, value=_LATER))


def _compiled(statement: Any) -> dict[str, Any]:
    compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})
    return {
        "sql": " ".join(str(compiled).split()),
        "constants": {name: value for name, value in compiled.params.items() if value != _LATER},
        "columns": [type(column.type).__name__ for column in statement.selected_columns],
    }


if __name__ == "__main__":
    STATEMENTS.write_text(statements_text(), encoding="utf-8")
