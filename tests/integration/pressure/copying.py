"""A hundred thousand Triggers in a second: rows copied from one that was saved through the usual door."""

from __future__ import annotations

from core.storage.store import Store, Transaction

_UID = "printf('%s-%06d', {column}, n.n)"
_NUMBERS = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) "
_PLACES = {"resource": ("uid", "name"), "revision": ("uid",), "trigger_state": ("trigger_uid", "name")}


def copy_trigger(store: Store, name: str, count: int) -> None:
    """Make `count` copies of a Trigger, with definition, revision and state, under names of their own."""
    with store.write() as tx:
        uid = tx.connection.exec_driver_sql("SELECT uid FROM resource WHERE name = ?", (name,)).scalar_one()
        for table, renamed in _PLACES.items():
            _copy(tx, table, renamed, uid, count)


def _copy(tx: Transaction, table: str, renamed: tuple[str, ...], uid: str, count: int) -> None:
    described = tx.connection.exec_driver_sql(f"PRAGMA table_info({table})").mappings().all()
    columns = [row["name"] for row in described]
    values = [_UID.format(column=column) if column in renamed else column for column in columns]
    tx.connection.exec_driver_sql(
        f"{_NUMBERS} INSERT INTO {table} ({', '.join(columns)})"  # noqa: S608 - our own names
        f" SELECT {', '.join(values)} FROM {table}, n WHERE {renamed[0]} = ?",
        (count, uid),
    )
