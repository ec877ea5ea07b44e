"""Runs programs and says what they took: processor seconds, seconds by the clock, most memory."""
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Run:
    """One run of one command, everything that it started included."""

    out: bytes
    status: int
    cpu_s: float
    wall_s: float
    peak_mib: float
    error: str


def run(argv):
    """Runs a command to its end, below GNU time: a child of Python would be charged with Python's memory."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile() as told:
        began = time.monotonic()
        child = subprocess.Popen(
            ["/usr/bin/time", "--quiet", "-o", told.name, "-f", "%M", *argv], stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Run(
            out=out.read(),
            status=child.returncode,
            cpu_s=used.ru_utime + used.ru_stime,
            wall_s=wall,
            peak_mib=int(told.read() or 0) / 1024,
            error=err.read().decode(errors="replace").strip()[:300],
        )


def best(runs):
    """Of alternating runs the one with the least processor time: what the work needs, not what disturbed it."""
    return min(runs, key=lambda run: run.cpu_s)


def used_by(pid):
    """Processor seconds, most memory in MiB and open files of a program that still runs."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        peak_kib = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    return (int(fields[11]) + int(fields[12])) / ticks, peak_kib / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def table(head, rows):
    """A markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
