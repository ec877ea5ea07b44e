"""Tail: lines appended to logs that are renamed, written anew and truncated, while the follower is killed.

Each line has a number of its own. Before a log loses content the writer waits, so that whoever looks at all has seen it.
"""
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from measure import table, used_by
from served import Served

TITLE = "Tail: what is lost and doubled while logs move and the follower is killed"
LINE = (
    "[2026-09-14 12:{0:02d}:{1:02d}.{2:03d}] [WARN ] [d3d_log_weave_placement] weave placement: render='NVIDIA GeForce RTX 4080 "
    "Laptop GPU' LUID=00000000:{3:08x}, panel scanout='Intel(R) Iris(R) Xe Graphics' LUID=00000000:7f013c07 — weave on the RENDER "
    "adapter; every present crosses adapters to reach scanout (split=0 reason=no_hwnd) (#918)\n"
)
NUMBER = re.compile(r"LUID=00000000:([0-9a-f]{8}),")
LOGS, PAUSE_S, SETTLE_S = 4, 0.01, 2.0


def race(asked, work):
    rows = []
    for name, follower in (("weavewatch watch", Ours), ("rsyslog imfile", Rsyslog)):
        if follower is Rsyslog and not shutil.which("rsyslogd"):
            rows.append([name, "missing"] + [""] * 7)
            continue
        folder = work / f"tail-{follower.__name__}"
        (folder / "logs").mkdir(parents=True)
        with follower(asked, folder) as running:
            written, deeds = write(folder / "logs", running, asked.seconds)
            seen = running.seen(len(written))
            lost, twice = written - set(seen), len(seen) - len(set(seen))
            cpu_s, peak_mib, most_open = running.used()
        rows.append([name, len(written), deeds, running.kills, len(lost), twice, f"{cpu_s:.2f}", f"{peak_mib:.0f}", most_open])
    print(f"{LOGS} logs for {asked.seconds} s.\n")
    print(table(["", "lines", "renames, rewrites, truncations", "kills", "lost", "doubled", "CPU s", "memory, MiB", "logs and files open, most"], rows))


def write(folder, running, seconds):
    """Appends numbered lines, and every so often does what programs and people do to logs. The same seed, the same deeds."""
    rng = random.Random(918)
    paths = [folder / f"DisplayXR_Viewer.exe.{100 + log}_2026-09-14_12-00-0{log}.log" for log in range(LOGS)]
    files = [begin(path, log) for log, path in enumerate(paths)]
    written, deeds, number, process = set(), 0, 0, LOGS
    until = time.monotonic() + seconds
    next_deed = time.monotonic() + 2
    while time.monotonic() < until:
        log = number % LOGS
        files[log].write(LINE.format(number // 60_000 % 60, number // 1000 % 60, number % 1000, number))
        files[log].flush()
        written.add(number)
        number += 1
        time.sleep(PAUSE_S)
        if number % 50 == 0:
            running.look()
        if time.monotonic() < next_deed:
            continue
        next_deed = time.monotonic() + 2
        deed = ("rename", "rewrite", "truncate", "kill")[deeds % 4] if deeds < 4 else rng.choice(("rename", "rewrite", "truncate", "kill"))
        deeds += 1
        log = rng.randrange(LOGS)
        if deed == "kill":
            running.kill()
            continue
        if deed == "rename":
            paths[log] = paths[log].rename(paths[log].with_name(f"{paths[log].stem}.{deeds}.log"))
            continue
        time.sleep(SETTLE_S)
        if deed == "rewrite":
            files[log].close()
            paths[log].unlink()
            files[log] = begin(paths[log], process)
        else:
            # The writer's handle goes on at the start, as `copytruncate` leaves it.
            files[log].close()
            files[log] = begin(paths[log], process)
        process += 1
    for file in files:
        file.close()
    return written, deeds - running.kills


def begin(path, process):
    file = open(path, "w", encoding="utf-8")
    file.write(
        f"=== DisplayXR Log Started ===\nLog file: C:\\Logs\\{path.name}\nProcess: Viewer.exe (PID {100 + process})\n"
        f"Timestamp: 2026-09-14 12:00:{process % 60:02d}\n============================\n\n"
    )
    return file


class Follower:
    """A program that follows the logs of a folder, and what it took over all of its lives."""

    def __init__(self, asked, folder):
        self.asked, self.folder, self.kills, self.cpu_s, self.peak_mib, self.most_open = asked, folder, 0, 0.0, 0.0, 0
        self.process = None

    def __enter__(self):
        self.start()
        time.sleep(1)
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            self.process.wait()

    def look(self):
        self.most_open = max(self.most_open, used_by(self.process.pid)[2])

    def kill(self):
        self._add_up()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.start()

    def used(self):
        self._add_up()
        return self.cpu_s, self.peak_mib, self.most_open

    def _add_up(self):
        cpu_s, peak_mib, _ = used_by(self.process.pid)
        self.cpu_s += cpu_s
        self.peak_mib = max(self.peak_mib, peak_mib)

    def settled(self, count):
        """Waits until the number of lines that have arrived stands still for some seconds."""
        before, still_s = -1, 0
        while still_s < 6:
            time.sleep(1)
            now = count()
            still_s = still_s + 1 if now == before else 0
            before = now


class Ours(Follower):
    """The agent, with a server of ours behind it; what counts is what the server holds."""

    def start(self):
        if not hasattr(self, "served"):
            self.served = Served(self.asked, self.folder / "server")
        self.process = subprocess.Popen(
            [self.asked.agent, "watch", "--dir", self.folder / "logs", "--server", self.served.url, "--state", self.folder / "state", "--cpu-percent", "0"],
            env=self.served.agent_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )

    def __exit__(self, *_):
        super().__exit__()
        self.served.__exit__()

    def seen(self, _):
        self.settled(lambda: len(self._numbers()))
        return self._numbers()

    def _numbers(self):
        file = self.folder / "events.csv"
        self.served.export("events", "csv", file)
        return [int(low, 16) for low in re.findall(r'render\.luid\W+luid\W+00000000:([0-9a-f]{8})', file.read_text())]


class Rsyslog(Follower):
    """rsyslog as its manual sets it up for files: notified by the system, state kept after each line."""

    def start(self):
        config = self.folder / "rsyslog.conf"
        (self.folder / "state").mkdir(exist_ok=True)
        config.write_text(
            f"""global(workDirectory="{self.folder}/state" maxMessageSize="64k")
module(load="imfile" mode="inotify")
input(type="imfile" File="{self.folder}/logs/*.log" Tag="log" Ruleset="all" reopenOnTruncate="on" persistStateInterval="1")
template(name="line" type="string" string="%msg%\\n")
ruleset(name="all") {{ action(type="omfile" file="{self.folder}/out" template="line") }}
"""
        )
        (self.folder / "pid").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            ["rsyslogd", "-n", "-f", config, "-i", self.folder / "pid"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def seen(self, _):
        self.settled(lambda: len(self._numbers()))
        return self._numbers()

    def _numbers(self):
        out = Path(self.folder / "out")
        return [int(number, 16) for number in NUMBER.findall(out.read_text(errors="replace"))] if out.exists() else []
