"""First result: what somebody types who has only the repository or only Python, and how long it takes."""
import importlib.util
import json
import shutil
import subprocess
import sys
import time

import corpus
from measure import run, table

TITLE = "First result: commands and seconds"


def race(asked, work):
    noisy = corpus.noisy(asked, work)
    said = run([asked.agent, "explain", str(noisy)])
    rows = [["weavewatch, built", "`weavewatch explain LOG`", f"{said.wall_s:.1f}", "verdict, reason, evidence, what to ask next"]]
    if importlib.util.find_spec("duckdb"):
        place = work / "venv"
        began = time.monotonic()
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "duckdb"], check=True)
        rows.append(["DuckDB", "`python3 -m venv v; v/bin/pip install duckdb`, then a query with a pattern that one has to write",
                     f"{time.monotonic() - began:.1f}", "the line's words"])
    if shutil.which("lnav"):
        rows.append(["lnav", "`apt-get install lnav`, then a format file that one has to write", "not taken", "the line's words"])
    print("The builds of this project from a fresh clone are taken by `tests/first-run` (above).\n")
    print(table(["", "commands", "seconds", "what one has then"], rows))
    if said.status not in (0, 1):
        print(json.dumps(said.error), file=sys.stderr)
