"""Typed parse: the last placement of each log, with both adapters, the split and its reason. Answers first, then speed.

Every peer is told the four wordings by a pattern; what a log's other records correct, only a reader of all records can
know, and what is encoded in UTF-16 only somebody who looks.
"""
import csv
import io
import json
import os
import shutil
import sys
from pathlib import Path

import corpus
from measure import best, run, table

TITLE = "Typed parse: the last placement of each log"
ADAPTER = r"'(?P<{0}>.*?)' LUID=[0-9a-f]+:[0-9a-f]+"
PATTERN = (
    r"weave placement: render=(?:UNKNOWN|" + ADAPTER.format("render") + r"), panel scanout=(?:UNRESOLVED|"
    + ADAPTER.format("scanout") + r") — (?P<rest>.*)$"
)
# The same without names, for engines whose patterns number their groups; PCRE, RE2 and Rust's regex read it alike.
PLAIN = PATTERN.replace("?P<render>", "").replace("?P<scanout>", "").replace("?P<rest>", "")

# How a record starts, for lnav.
START = r"^\[(?<timestamp>[^\]]+)\] \[(?<level>\w+) *\] (?:\[(?<thread>[^\]]*)\] )?+"


def race(asked, work):
    noisy = corpus.noisy(asked, work)
    folder, truth = corpus.fleet(asked, work)
    logs = sorted(folder.rglob("*.log"))
    mib = noisy.stat().st_size / (1 << 20)
    truth = {name: said(entry["verdict"]) for name, entry in truth.items()}
    rows = []
    for name, entrant in entrants(asked, work).items():
        if entrant is None:
            rows.append([name, "missing", "", "", "", "", ""])
            continue
        whole = run(entrant(folder))
        answers = {str(Path(path).relative_to(folder)): answer for path, answer in parsed(name, whole.out).items()}
        right = sum(answers.get(log) == told for log, told in truth.items())
        one = best([run(entrant(noisy)) for _ in range(asked.runs)])
        found = parsed(name, one.out)
        if whole.status or one.status or str(noisy) not in found:
            print(f"{name} ended with {whole.status} and {one.status}: {whole.error or one.error}", file=sys.stderr)
        rows.append([
            name, f"{right} of {len(truth)}", f"{100 * right / len(truth):.2f} %", f"{whole.cpu_s:.2f}",
            "yes" if str(noisy) in found else "no", f"{mib / 1024 / one.cpu_s:.3f}", f"{max(whole.peak_mib, one.peak_mib):.0f}",
        ])
    size = sum(log.stat().st_size for log in logs) / (1 << 20)
    print(f"The fleet: {len(logs)} logs, {size:.0f} MiB; the noisy log: {mib:.0f} MiB, best of {asked.runs} runs.\n")
    print(table(["", "right answers", "", "fleet, CPU s", "noisy log read", "GiB per CPU second", "memory, MiB"], rows))


def said(verdict):
    """What is compared: names of both adapters, the split, the reasons."""
    names = [(verdict[side] or {}).get("name") for side in ("render", "scanout")]
    return (*names, verdict["split"], ",".join(verdict["reasons"]))


def worded(render, scanout, rest):
    """The answer that stands in the words of a placement line; lnav gives it with the lines that follow."""
    rest = rest.split("\n", 1)[0].rstrip()
    if "split=" in rest:
        engaged = "split=1" in rest
    else:
        engaged = "weave/present on the SCANOUT adapter" in rest
    reason = rest.split("reason=", 1)[1].split(")", 1)[0] if "reason=" in rest else ""
    render = None if render in ("", "<unknown>") else render
    return (render, scanout or None, "engaged" if engaged else "off", "" if engaged else reason)


def parsed(name, out):
    """What an entrant printed, by path."""
    text = out.decode(errors="replace")
    if name == "weavewatch scan":
        reports = (json.loads(line) for line in text.splitlines())
        return {report["file"]: said(report["verdict"]) for report in reports}
    rows = csv.reader(io.StringIO(text)) if name != "grep and awk" else (line.split("\t") for line in text.splitlines())
    return {row[0]: worded(*row[1:4]) for row in rows if len(row) == 4 and row[0].endswith(".log")}


def entrants(asked, work):
    """By name the command for a path, or none where the program is missing."""
    lnav = lnav_command(work) if shutil.which("lnav") else None
    here = Path(__file__).resolve().parent
    python = lambda module, script: (lambda path: [sys.executable, str(here / script), str(path), PLAIN]) if has(module) else None
    return {
        "weavewatch scan": lambda path: [asked.agent, "scan", "--format", "ndjson", str(path)],
        "lnav": lnav,
        "DuckDB": python("duckdb", "parse_duckdb.py"),
        "Polars": python("polars", "parse_polars.py"),
        "angle-grinder": (lambda path: ["sh", str(here / "parse_agrind.sh"), str(path)]) if shutil.which("agrind") else None,
        "grep and awk": lambda path: ["sh", str(here / "parse_awk.sh"), str(path)],
    }


def has(module):
    import importlib.util
    return importlib.util.find_spec(module) is not None


def lnav_command(work):
    """lnav with a format of its own for these logs, and one question in SQL."""
    config = work / "lnav"
    formats = config / "formats" / "displayxr"
    formats.mkdir(parents=True, exist_ok=True)
    entry = {
        "title": "DisplayXR", "description": "Log of the DisplayXR runtime", "url": "",
        "regex": {
            "placement": {"pattern": START + PATTERN.replace("?P<", "?<")},
            "record": {"pattern": START + r"(?!weave placement: render=)(?<body>.*)$"},
        },
        "timestamp-format": ["%Y-%m-%d %H:%M:%S.%L"], "level-field": "level",
        "level": {"error": "ERROR", "warning": "WARN", "info": "INFO", "debug": "DEBUG|TRACE"},
        "value": {name: {"kind": "string"} for name in ("thread", "render", "scanout", "rest")},
        "sample": [{"line": "[2026-09-14 12:00:00.000] [WARN ] [f] text"}],
    }
    (formats / "format.json").write_text(json.dumps({"$schema": "https://lnav.org/schemas/format-v1.schema.json", "displayxr_log": entry}))
    question = (
        ";select log_path, coalesce(render, ''), coalesce(scanout, ''), rest from "
        "(select log_path, max(log_line), render, scanout, rest from displayxr_log where rest is not null group by log_path)"
    )
    os.environ["LNAV_HOME"] = str(config)
    lnav = ["lnav", "-I", str(config), "-n", "-c", question, "-c", ":write-csv-to -"]
    # Started for each log: of a folder whose logs all begin alike, it loads another part each time.
    return lambda path: ["find", str(path), "-name", "*.log", "-exec", *lnav, "{}", ";"] if path.is_dir() else [*lnav, str(path)]
