"""Draft or release the day's report: `draft FOLDER` counts what lies there, `release FOLDER NOTE` publishes it."""

import json
import os
import sys
from pathlib import Path


def draft(folder: Path) -> dict[str, object]:
    """Count the rows of every CSV file and write the draft."""
    rows = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in sorted(folder.glob("*.csv"))}
    lines = [f"{name}: {count} rows" for name, count in rows.items()] or ["nothing was measured yet"]
    (folder / "draft.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return {"rows": sum(rows.values()), "files": len(rows)}


def release(folder: Path, note: str) -> dict[str, object]:
    """Turn the draft into the report."""
    text = (folder / "draft.txt").read_text(encoding="utf-8")
    (folder / "report.txt").write_text(f"{text}note: {note}\n", encoding="utf-8")
    print(f"released, note: {note}")
    return {"file": str(folder / "report.txt")}


def main() -> None:
    """Do as the first argument says."""
    action, folder, *rest = sys.argv[1:]
    report = draft(Path(folder)) if action == "draft" else release(Path(folder), rest[0])
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps(report), encoding="utf-8")


main()
