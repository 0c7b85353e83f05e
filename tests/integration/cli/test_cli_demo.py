import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

SECONDS = "16"


@pytest.mark.slow
def test_the_example_fires_for_real_and_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    command = [sys.executable, "-m", "cli", "demo", "--no-ui", "--seconds", SECONDS, "--keep", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("fired", "coalesced", "missed", "skipped", "asks", "answered", "completed", "no work", "failed"):
        assert f" {word}" in done.stdout, word
    assert "concurrency_skip" in done.stdout
    assert (folder / "data/reports/disk_usage.csv").read_text(encoding="utf-8").startswith("nominal_at,folder,bytes")
    assert (folder / "data/reports/rates.csv").exists()
    assert "looks good" in (folder / "data/reports/report.txt").read_text(encoding="utf-8")
    assert list((folder / "data/backups").glob("ledger-*.sqlite3"))
    assert processes_of(folder) == []


@pytest.mark.slow
def test_an_example_that_is_ended_early_takes_worker_and_folder_with_it(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cli", "demo", "--no-ui", "--seconds", "600"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as demo:
        assert demo.stdout
        for line in demo.stdout:
            if " fired " in line:
                break
        assert len(processes_of(tmp_path)) >= 1
        demo.terminate()
        demo.stdout.read()
        assert demo.wait(60) == 130
    assert processes_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def processes_of(folder: Path) -> list[str]:
    found = psutil.process_iter(["cmdline"])
    return [str(process.info["cmdline"]) for process in found if str(folder) in str(process.info["cmdline"])]
