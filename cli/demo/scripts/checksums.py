"""Compare the SHA-256 of every file below a folder with the manifest of last time, and write the new one."""

import hashlib
import json
import os
import sys
from pathlib import Path


def digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main() -> None:
    """Read, compare, write, report."""
    root, manifest = Path(sys.argv[1]), Path(sys.argv[2])
    before = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
    now = {str(file.relative_to(root)): digest(file) for file in sorted(root.rglob("*")) if file.is_file()}
    changes = {
        "added": sorted(now.keys() - before.keys()),
        "removed": sorted(before.keys() - now.keys()),
        "changed": sorted(name for name in now.keys() & before.keys() if now[name] != before[name]),
    }
    for kind, names in changes.items():
        for name in names:
            print(f"{kind}: {name}")
    manifest.write_text(json.dumps(now, indent=1), encoding="utf-8")
    report = {"files": len(now), **{kind: len(names) for kind, names in changes.items()}}
    print(f"{len(now)} files checked")
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps(report), encoding="utf-8")


main()
