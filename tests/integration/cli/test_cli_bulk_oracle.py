import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ORACLE = Path(__file__).parents[2] / "oracle" / "quartz_fire_times.jsonl.gz"
ASIDE = {"lenient", "defect", "afterFirstPass"}
COUNT = 8


def oracle_rows() -> list[dict[str, Any]]:
    with gzip.open(ORACLE, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row for row in rows if not ASIDE & row.keys() and ("fires" in row or row.get("stage") == "parse")]


def request_of(row: dict[str, Any]) -> str:
    rule = {"expr": row["expr"], "zone": row["zone"], "after": row["after"], "gap": "skip", "overlap": "second"}
    return json.dumps({**rule, "count": row.get("asked", COUNT)}) + "\n"


def test_bulk_answers_are_those_of_the_real_quartz() -> None:
    rows = oracle_rows()
    done = subprocess.run(
        [sys.executable, "-m", "cli", "preview", "--jsonl"],
        input="".join(map(request_of, rows)).encode(),
        capture_output=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(rows) > 4000
    wrong = [
        (row["expr"], row["zone"], row["after"], answer)
        for row, answer in zip(rows, answers, strict=True)
        if answer.get("fires") != row.get("fires") or ("error" in answer) != ("error" in row)
    ]
    assert wrong == []
    cut_short = [
        row for row, answer in zip(rows, answers, strict=True) if row.get("exhausted") and not answer["exhausted"]
    ]
    assert cut_short == []
