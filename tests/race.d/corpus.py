"""The logs that all take part on: one long noisy session, and a simulated fleet with its truth."""
import json
import subprocess
import sys


def noisy(asked, work):
    """A session of `--size-mib` whose lines are per-frame warnings, but for three placement lines."""
    log = work / "DisplayXR_Viewer.exe.22428_2026-09-14_12-00-00.log"
    if not log.exists():
        subprocess.run([sys.executable, "tests/noise.py", str(asked.size_mib), "700", str(log)], check=True)
    with open(log, "rb") as file:  # into the page cache
        while file.read(1 << 20):
            pass
    return log


def fleet(asked, work):
    """A folder of logs, and what is true of each by its path in there."""
    folder = work / "fleet"
    if not folder.exists():
        subprocess.run(
            [asked.agent, "simulate", "--machines", str(asked.machines), "--seed", "918", "--out", str(folder)], check=True
        )
    with open(folder / "truth.jsonl", encoding="utf-8") as file:
        truth = [json.loads(line) for line in file]
    return folder, {entry["file"]: entry for entry in truth}
