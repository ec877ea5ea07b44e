"""Does the Windows build do under Wine what the Linux build does? `tests/windows` calls this behind both builds.

Each check prints a line; the first thing that is wrong in a check ends it and is printed, and the others still run.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.request
import zipfile

WINE = os.environ["WEAVEWATCH_WINE"]
EXE = os.environ["WEAVEWATCH_EXE"]
LINUX = "target/debug/weavewatch"
SERVER = "target/debug/weavewatch-server"
WORK = pathlib.Path(sys.argv[1])
DRIVE_C = WORK / "prefix/drive_c"
# Longer than anything here takes on a busy machine; only a hang reaches it.
PATIENCE_S = 120

for name in [name for name in os.environ if name.startswith("WEAVEWATCH_") or name == "RUST_LOG"]:
    del os.environ[name]
os.environ["NO_COLOR"] = "1"


def main():
    failed = []
    checks = [
        answers_of_every_fixture,
        answers_of_folders_bundles_and_standard_input,
        exit_codes,
        upload_from_local_app_data,
        followed_files_stay_free,
        service_starts_sends_and_stops,
        task_at_logon,
    ]
    with SwitchedOn():
        for check in checks:
            name = check.__name__.replace("_", " ")
            try:
                print(f"   ok    {name}: {check()}", flush=True)
            except Exception as error:  # whatever it is, the others are still worth knowing
                failed.append(name)
                shown = str(error) if isinstance(error, Wrong) else traceback.format_exc()
                print(f"   WRONG {name}: {shown}", flush=True)
    print(f"   {len(checks) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


class Wrong(Exception):
    """What a check found; printed without a trace."""


def expect(holds, message):
    if not holds:
        raise Wrong(message)


# What the checks are made of ------------------------------------------------------------------------------------------


def run(program, *arguments, stdin=b""):
    """Runs a program to its end, with the paths that it is given taken from the repository's root.

    Through files, because the first Windows program starts those of Wine's own that stay, and they would hold a pipe open.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        given.write(stdin)
        for file in (given, stdout, stderr):
            file.seek(0)
        command = [*program, *map(str, arguments)]
        done = subprocess.run(command, stdin=given, stdout=stdout, stderr=stderr, timeout=PATIENCE_S)
        stdout.seek(0)
        stderr.seek(0)
        return done.returncode, stdout.read(), stderr.read().decode(errors="replace")


def windows(*arguments, stdin=b""):
    return run([WINE, EXE], *arguments, stdin=stdin)


def linux(*arguments, stdin=b""):
    return run([LINUX], *arguments, stdin=stdin)


def cmd(line):
    """Another Windows process. Only those are bound by how a file was opened; Linux renames whatever it likes."""
    code, stdout, stderr = run([WINE], "cmd", "/c", line)
    return code, stdout.decode(errors="replace").strip() + stderr


def local_app_data():
    code, said = cmd("echo %LOCALAPPDATA%")
    expect(code == 0 and said.startswith("C:\\"), f"%LOCALAPPDATA% is {said!r}")
    return said, DRIVE_C / said[3:].replace("\\", "/")


def fixture_logs():
    logs = sorted(str(path) for path in pathlib.Path("fixtures").rglob("*.log"))
    for part in ("fixtures/logs/ok/", "fixtures/framing/ok/", "fixtures/framing/err/", "fixtures/fleet/"):
        expect(sum(log.startswith(part) for log in logs) >= 5, f"hardly a log in {part}")
    return logs


def first_difference(ours, theirs):
    for number, (one, other) in enumerate(zip(ours.splitlines(), theirs.splitlines()), 1):
        if one != other:
            return f"line {number}\n  windows: {one.decode(errors='replace')}\n  linux:   {other.decode(errors='replace')}"
    return f"{len(ours)} bytes instead of {len(theirs)}"


def expect_same(what, ours, theirs, code=0):
    expect(ours[0] == theirs[0] == code, f"{what}: exit code {ours[0]}, on Linux {theirs[0]}: {ours[2]}{theirs[2]}")
    expect(ours[1] == theirs[1], f"{what}: differs in {first_difference(ours[1], theirs[1])}")
    expect(ours[1], f"{what}: says nothing")


class SwitchedOn:
    """A program that waits. Wine shuts its Windows down, services and all, when the last program has ended."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [WINE, "cmd", "/q"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Server:
    """A real server on a free port over a database of its own; its end goes with the `with`."""

    def __init__(self, name):
        self.data = ["--data", str(WORK / f"{name}.sqlite")]

    def __enter__(self):
        self.log = open(WORK / "server.log", "ab")
        self.process = subprocess.Popen(
            [SERVER, "serve", "--listen", "127.0.0.1:0", *self.data], stdout=subprocess.PIPE, stderr=self.log
        )
        line = self.process.stdout.readline().decode()
        expect(line.startswith("listening on "), f"the server said {line!r}, see {self.log.name}")
        self.url = line.removeprefix("listening on ").strip()
        self.reader = self.token("reader")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def token(self, scope):
        code, stdout, stderr = run([SERVER], "token", "create", "--scope", scope, *self.data)
        expect(code == 0, f"no token: {stderr}")
        return stdout.decode().split("\n")[0].strip()

    def get(self, route):
        request = urllib.request.Request(self.url + route, headers={"Authorization": f"Bearer {self.reader}"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def logs(self):
        items, cursor = [], None
        while True:
            page = self.get("/api/v1/logs" + (f"?cursor={cursor}" if cursor else ""))
            items += page["items"]
            cursor = page["next"]
            if not cursor:
                return {pathlib.PureWindowsPath(item["file"]).name: item for item in items}


def counted(objects):
    """What the summary's total has to be for these scan objects of one machine."""
    verdicts = [scanned["verdict"] for scanned in objects]

    def how_many(key, value):
        return sum(verdict[key] == value for verdict in verdicts)

    return {
        "logs": len(verdicts),
        "machines": 1,
        "split": {value: how_many("split", value) for value in ("engaged", "off", "unknown")},
        "crossing": {
            value: how_many("crossing", value) for value in ("none", "atlas_per_frame", "every_present", "unknown")
        },
        "interop_crossing": how_many("interop_crossing", True),
        "killed": how_many("killed", True),
        "retired": how_many("retired", True),
        "corrected": how_many("basis", "corrected"),
    }


# The checks -----------------------------------------------------------------------------------------------------------


def answers_of_every_fixture():
    """Files that are named one by one are spelled as they were given, so here every byte is compared."""
    logs = fixture_logs()
    scan = ("scan", "--format", "ndjson", *logs)
    # Windows takes 32,767 characters.
    expect(sum(len(log) + 1 for log in logs) < 30_000, "too many fixtures for one command line of Windows")
    expect_same("scan", windows(*scan), linux(*scan))
    asked = [log for log in logs if log.startswith("fixtures/fleet/")][:3]
    for log in asked:
        expect_same("explain", *[program("explain", "--format", "json", log) for program in (windows, linux)])
    replay = ("replay", "--machine", asked[0], "--path", "d3d11", "--format", "json")
    expect_same("replay", windows(*replay), linux(*replay))
    return f"{len(logs)} logs byte-identical"


def answers_of_folders_bundles_and_standard_input():
    """What is found below a folder is joined with `\\` on Windows: there `file` may differ in that, and nothing else."""
    for folder in ("fixtures/logs/ok", "fixtures/framing", "fixtures/fleet"):
        code, stdout, stderr = windows("scan", "--format", "ndjson", folder)
        expect(b'"file":"' + folder.encode() + b"\\\\" in stdout, f"{folder}: no path of Windows in the answer")
        expect_same(folder, (code, with_slashes(stdout), stderr), linux("scan", "--format", "ndjson", folder))
    bundle = WORK / "bundle.zip"
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as archive:
        for log in fixture_logs():
            archive.write(log)
    stream = bundle.read_bytes()
    for stdin in (stream, pathlib.Path(fixture_logs()[0]).read_bytes()):
        expect_same("scan -", *[program("scan", "--format", "ndjson", "-", stdin=stdin) for program in (windows, linux)])
    return "the same but for the separators in `file`"


FILE = re.compile(rb'^(\{"schema":"weavewatch\.scan/1","file":)("(?:[^"\\]|\\.)*")', re.MULTILINE)


def with_slashes(ndjson):
    def one(match):
        name = json.loads(match[2]).replace("\\", "/")
        return match[1] + json.dumps(name, ensure_ascii=False).encode()

    return FILE.sub(one, ndjson)


def exit_codes():
    log = fixture_logs()[0]
    killed = next(log for log in fixture_logs() if "killed_by_env" in log)
    upload = ("watch", "--once", "--dir", "fixtures/fleet/atlas-hybrid-4080", "--state")
    nobody = ("--server", "http://127.0.0.1:9", "--token", "x")
    cases = [
        (0, ("scan", log)),
        (1, ("scan", "--fail-on", "killed", killed)),
        (2, ("scan", "--format", "nonsense", log)),
        (2, ("scan", "--fail-on", "no_such_code", log)),
        (2, ("no-such-command",)),
        (3, ("scan", "no/such/file.log")),
        (3, ("scan", log, "no/such/folder/")),
        (4, (*upload, WORK / "nobody", *nobody)),
    ]
    for code, arguments in cases:
        for program in (windows, linux):
            got, _, stderr = program(*arguments)
            expect(got == code, f"{program.__name__} {arguments}: exit code {got} instead of {code}: {stderr}")
            expect(code in (0, 1) or stderr, f"{program.__name__} {arguments}: ends with {code} and does not say why")
    return f"{len(cases)} cases, as on Linux"


def upload_from_local_app_data():
    """The folder of the runtime is found without being told, and the server counts what Linux's scan says."""
    _, folder = local_app_data()
    folder = folder / "DisplayXR"
    folder.mkdir(parents=True)
    _, stdout, _ = linux("scan", "--format", "ndjson", *fixture_logs())
    for number, line in enumerate(map(json.loads, stdout.splitlines())):
        # What has no record is no log of the runtime yet, and is not uploaded.
        if line["counts"]["records"] > 0:
            # Names as the runtime gives them, because fixtures of different folders share names.
            name = f"DisplayXR_Fixture.exe.{1000 + number}_2026-09-14_12-00-00.log"
            shutil.copy(line["file"], folder / name)
    code, stdout, _ = linux("scan", "--format", "ndjson", folder)
    scanned = {pathlib.Path(line["file"]).name: line for line in map(json.loads, stdout.splitlines())}
    expect(code == 0 and len(scanned) > 100, f"{len(scanned)} logs to upload")

    with Server("upload") as server:
        agent = ("watch", "--once", "--server", server.url, "--token", server.token("agent"), "--state", "C:\\agent")
        for _ in ("for the first time", "and again, which changes nothing"):
            code, stdout, stderr = windows(*agent)
            expect(code == 0, f"exit code {code}: {stderr}")
            total, expected = server.get("/api/v1/summary")["total"], counted(scanned.values())
            # Those follow from the counts.
            total.pop("shares")
            expect(total == expected, f"the server counts {total}, Linux's scan {expected}: {stderr}")
        stored = server.logs()
        expect(stored.keys() == scanned.keys(), f"not the same logs: {stored.keys() ^ scanned.keys()}")
        for name, line in scanned.items():
            for key in line.keys() - {"file"}:
                expect(stored[name][key] == line[key], f"{name}: {key} is {stored[name][key]}, scan says {line[key]}")
    shutil.rmtree(folder)
    return f"{len(scanned)} logs, counted and judged as Linux's scan does"


class Followed:
    """A log of one placement in %LOCALAPPDATA%\\DisplayXR, which other Windows processes may append to."""

    def __init__(self, server):
        self.server, self.runs = server, lambda: None
        self.folder_name, folder = local_app_data()
        self.folder_name, self.folder = self.folder_name + "\\DisplayXR", folder / "DisplayXR"
        self.folder.mkdir(parents=True)
        source = next(path for path in map(pathlib.Path, fixture_logs()) if path.parts[1] == "fleet")
        lines = source.read_bytes().splitlines(keepends=True)
        self.placement = next(line for line in lines if b"weave placement:" in line)
        header_end = lines.index(b"\r\n") + 1
        self.log = source.name
        (self.folder / self.log).write_bytes(b"".join(lines[:header_end]) + self.placement)
        (WORK / "more").write_bytes(self.placement)
        self.count = 1

    def arrives(self):
        """Until the server has this log with all its events, and nothing else."""
        until = time.monotonic() + PATIENCE_S
        while (has := {name: log["counts"]["events"] for name, log in self.server.logs().items()}) != {
            self.log: self.count
        }:
            self.runs()
            expect(time.monotonic() < until, f"never arrived: {self.count} events of {self.log}; the server has {has}")
            time.sleep(0.2)

    def grow(self):
        more, size = "Z:" + str(WORK / "more").replace("/", "\\"), (self.folder / self.log).stat().st_size
        self.other_process(
            rf"type {more} >> {self.folder_name}\{self.log}",
            lambda: (self.folder / self.log).stat().st_size == size + len(self.placement),
        )
        self.count += 1

    def rename(self, name):
        self.other_process(rf"ren {self.folder_name}\{self.log} {name}", (self.folder / name).exists)
        self.log = name

    def delete(self):
        self.other_process(rf"del {self.folder_name}\{self.log}", lambda: not (self.folder / self.log).exists())

    def other_process(self, line, done):
        code, said = cmd(line)
        expect(code == 0 and done(), f"another process cannot do `{line}`: exit code {code}: {said}")
        self.runs()


def followed_files_stay_free():
    """A daemon in Wine; other Windows processes write, rename and delete the file that it follows."""
    said = WORK / "follower.log"
    with Server("follow") as server, open(said, "wb") as output:
        followed = Followed(server)
        agent = ["watch", "--server", server.url, "--token", server.token("agent"), "--state", "C:\\follower"]
        follower = subprocess.Popen([WINE, EXE, *agent], stdout=output, stderr=output)
        followed.runs = lambda: expect(follower.poll() is None, f"the agent ended: {said.read_text()}")
        try:
            followed.arrives()
            followed.grow()
            followed.arrives()
            # By its header it is the same log.
            followed.rename("renamed.log")
            followed.grow()
            followed.arrives()
            followed.delete()
        finally:
            follower.kill()
            follower.wait()
            shutil.rmtree(local_app_data()[1] / "DisplayXR", ignore_errors=True)
    return "appended, renamed and deleted by other processes, and every line arrived"


def service(*arguments, code):
    got, stdout, stderr = windows("service", *arguments)
    expect(got == code, f"service {' '.join(arguments)}: exit code {got} instead of {code}: {stderr}")
    return stdout.decode(), stderr


def service_starts_sends_and_stops():
    """Wine has a service manager. What it lacks of Windows' is said, and the service works without it."""
    own = DRIVE_C / "ProgramData/Weavewatch"
    service("status", code=2)
    with Server("service") as server:
        own.mkdir(parents=True)
        (own / "weavewatch.toml").write_text(f"server = '{server.url}'\ntoken = '{server.token('agent')}'\n")
        printed, _ = service("install", "--print", code=0)
        for word in (r"NT AUTHORITY\LocalService", r"--state C:\ProgramData\Weavewatch --config", "delayed", "5 s, 30 s, 300 s"):
            expect(word in printed, f"{word} is not in what would be installed: {printed}")
        # Wine 8 knows neither a delayed start, nor restarts after an error, nor identities of services: ERROR_INVALID_LEVEL.
        for _ in ("installed", "installed over it"):
            _, stderr = service("install", code=3)
            expect(stderr.count("(os error 124)") == len(stderr.splitlines()) == 3, f"more is missing: {stderr}")
        expect("os error" not in service("run", code=2)[1], "a start by hand is not understood")
        service("status", code=3)
        try:
            followed = Followed(server)
            service("start", code=0)
            followed.runs = lambda: service("status", code=0)
            followed.arrives()
            followed.grow()
            followed.arrives()
            service("stop", code=0)
            service("status", code=3)
            followed.runs = lambda: None
            followed.grow()
            followed.rename("renamed.log")
            service("start", code=0)
            followed.arrives()
            service("uninstall", code=0)
        finally:
            windows("service", "uninstall")
            shutil.rmtree(local_app_data()[1] / "DisplayXR", ignore_errors=True)
        service("status", code=2)
        service("uninstall", code=0)
    return "installed, started, stopped, started again and removed, and every line arrived"


def task_at_logon():
    """Only its text: Wine's own task scheduler does not answer reliably."""
    printed, _ = service("install", "--user", "--print", code=0)
    expect(re.search(r"<UserId>.+\\.+</UserId>", printed), f"for nobody: {printed}")
    expect("weavewatch.exe&quot; &quot;watch&quot;</Arguments>" in printed, f"it starts something else: {printed}")
    return "would start the agent for this user"


sys.exit(main())
