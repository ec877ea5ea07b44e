"""The races, one after the other; `tests/race` says how they are called."""
import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import first
import parse
import query
import scan
import tail

RACES = {"scan": scan, "parse": parse, "tail": tail, "query": query, "first": first}


def main():
    asked = arguments()
    work = Path(tempfile.mkdtemp(prefix="weavewatch-race.", dir=asked.work))
    try:
        about()
        for name in asked.only:
            print(f"\n### {RACES[name].TITLE}\n", flush=True)
            RACES[name].race(asked, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def arguments():
    parser = argparse.ArgumentParser(prog="tests/race", description="The same jobs, done by this project and by its peers.")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(RACES), metavar="RACE[,RACE]")
    parser.add_argument("--size-mib", type=int, default=400, help="the noise-heavy log (default 400)")
    parser.add_argument("--machines", type=int, default=40, help="of the simulated fleet (default 40, 30 days)")
    parser.add_argument("--runs", type=int, default=5, help="alternating runs, of which the least processor time counts")
    parser.add_argument("--seconds", type=int, default=30, help="how long the tail race writes")
    parser.add_argument("--work", help="where the logs go for a while, 2 GiB with the defaults")
    parser.add_argument("--bin", type=Path, help="a folder with weavewatch and weavewatch-server; built otherwise")
    asked = parser.parse_args()
    unknown = [name for name in asked.only if name not in RACES]
    if unknown:
        parser.error(f"no race is called {unknown[0]}; there are {', '.join(RACES)}")
    if asked.bin is None:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--bin", "weavewatch", "--bin", "weavewatch-server"], check=True)
        asked.bin = Path("target/release")
    asked.agent = str((asked.bin / "weavewatch").resolve())
    asked.server = str((asked.bin / "weavewatch-server").resolve())
    for program in (asked.agent, asked.server):
        if not os.access(program, os.X_OK):
            parser.error(f"{program} is no program: build it, or leave --bin away")
    return asked


def about():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    print(f"Commit {commit or 'unknown'}, {os.cpu_count()} × {model}, Python {platform.python_version()}.")


if __name__ == "__main__":
    sys.exit(main())
