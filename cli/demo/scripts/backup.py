"""Book one entry in a small SQLite ledger, copy it with VACUUM INTO, check the copy, keep the newest three."""

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

KEPT = 3


def main() -> None:
    """Book, copy, check, tidy, report."""
    ledger, folder = Path(sys.argv[1]), Path(sys.argv[2])
    target = folder / f"ledger-{os.environ.get('TRIGGERDECK_OCCURRENCE_ID', 'manual')[:13]}.sqlite3"
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(ledger)) as source, source:
        source.execute("CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, amount_cents INTEGER)")
        source.execute("INSERT INTO entry (amount_cents) VALUES (4200)")
        source.commit()
        source.execute("VACUUM INTO ?", (str(target),))
    with closing(sqlite3.connect(target)) as copy:
        verdict = copy.execute("PRAGMA integrity_check").fetchone()[0]
        entries = copy.execute("SELECT count(*) FROM entry").fetchone()[0]
    print(f"{target.name}: {entries} entries, integrity {verdict}")
    copies = sorted(folder.glob("ledger-*.sqlite3"), key=lambda path: path.stat().st_mtime)
    for old in copies[:-KEPT]:
        old.unlink()
        print(f"removed {old.name}")
    report = {"file": str(target), "entries": entries, "integrity": verdict}
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps(report), encoding="utf-8")


main()
