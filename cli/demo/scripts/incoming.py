"""Move what lies in an incoming folder to a processed one; end with status 3 where there is nothing."""

import json
import os
import sys
from pathlib import Path

NOTHING_TO_DO = 3


def main() -> int:
    """Move, report."""
    incoming, processed = Path(sys.argv[1]), Path(sys.argv[2])
    files = sorted(file for file in incoming.iterdir() if file.is_file())
    for file in files:
        file.replace(processed / file.name)
        print(f"took {file.name}")
    if not files:
        print("nothing has come in")
        return NOTHING_TO_DO
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps({"files": len(files)}), encoding="utf-8")
    return 0


sys.exit(main())
