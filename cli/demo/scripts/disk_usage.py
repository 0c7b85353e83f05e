"""Append the size of every folder below the first argument to a CSV file, the second one."""

import csv
import json
import os
import sys
from pathlib import Path


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Measure, append, report."""
    root, target = Path(sys.argv[1]), Path(sys.argv[2])
    rows = [(path.name, folder_bytes(path)) for path in sorted(root.iterdir()) if path.is_dir()]
    is_new = not target.exists()
    with target.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(("nominal_at", "folder", "bytes"))
        writer.writerows((os.environ.get("TRIGGERDECK_NOMINAL_AT", ""), *row) for row in rows)
    total = sum(size for _, size in rows)
    print(f"{len(rows)} folders, {total} bytes, appended to {target.name}")
    report = {"folders": len(rows), "bytes": total, "file": str(target)}
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps(report), encoding="utf-8")


main()
