"""Write a little into a log; once it is larger than a limit, compress it away and keep the newest three."""

import gzip
import json
import os
import sys
from pathlib import Path

LIMIT_BYTES = 4096
KEPT = 3


def rotate(log: Path) -> str:
    """Shift log.1.gz to log.2.gz and so on, and compress the log into log.1.gz."""
    for number in range(KEPT, 0, -1):
        old = log.with_suffix(f".{number}.gz")
        if old.exists():
            old.replace(log.with_suffix(f".{number + 1}.gz"))
    log.with_suffix(f".{KEPT + 1}.gz").unlink(missing_ok=True)
    target = log.with_suffix(".1.gz")
    target.write_bytes(gzip.compress(log.read_bytes()))
    log.write_bytes(b"")
    return target.name


def main() -> None:
    """Write, rotate when it is time, report."""
    log = Path(sys.argv[1])
    with log.open("a", encoding="utf-8") as file:
        file.writelines(
            f"{os.environ.get('TRIGGERDECK_NOMINAL_AT', '')} request {n} took {n * 7 % 50} ms\n" for n in range(40)
        )
    size = log.stat().st_size
    rotated = rotate(log) if size > LIMIT_BYTES else None
    print(f"{log.name} had {size} bytes: " + (f"rotated into {rotated}" if rotated else "left alone"))
    Path(os.environ["TRIGGERDECK_OUTPUT"]).write_text(json.dumps({"bytes": size, "rotated": rotated}), encoding="utf-8")


main()
