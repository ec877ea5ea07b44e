"""Ingest and query: the same events in this project's database, in DuckDB and in ClickHouse (chDB).

The server also judges, counts and keeps each batch safe while it loads; the others read finished Parquet files.
"""
import importlib.util
import subprocess
import time

import corpus
from measure import table
from served import Served

TITLE = "Ingest and query: load, five questions of a dashboard, size on disk"
WRONG = "count(*) as logs, sum(case when killed then 1 else 0 end) as killed_logs, sum(case when crossing = 'every_present' then 1 else 0 end) as crossing_logs, count(distinct machine) as machines"
QUESTIONS = {
    "the fleet's totals": ("summary", f"select 'all' as name, {WRONG} from logs"),
    "by build": ("summary?group_by=runtime", f"select runtime as name, {WRONG} from logs group by runtime"),
    "by pair of GPUs and day": (
        "summary?group_by=gpu_pair&group_by=day",
        f"select pair, day, {WRONG} from (select *, case when scanout is not null then render || ' → ' || scanout end as pair from logs) as named "
        "group by pair, day",
    ),
    "by program and path, what was killed": (
        "summary?group_by=exe&group_by=path&killed=true",
        f"select exe, path as name, {WRONG} from logs where killed group by exe, path",
    ),
    "by scanout adapter, where the split was off": (
        "summary?group_by=scanout&split=off",
        f"select scanout as name, {WRONG} from logs where split = 'off' group by scanout",
    ),
}


def race(asked, work):
    folder, _ = corpus.fleet(asked, work)
    home = work / "query"
    home.mkdir()
    with Served(asked, home / "server") as served:
        began = time.monotonic()
        machines = sorted(path for path in folder.iterdir() if path.is_dir()) or [folder]
        for machine in machines:
            subprocess.run(
                [asked.agent, "watch", "--once", "--dir", machine, "--server", served.url, "--state", home / "state" / machine.name],
                env=served.agent_environment(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        loaded_s = time.monotonic() - began
        for name in ("logs", "events"):
            served.export(name, "parquet", home / f"{name}.parquet")
        ours, took = {}, {}
        for question, (route, _) in QUESTIONS.items():
            served.ask(route)
            answers = [served.ask(route) for _ in range(asked.runs)]
            ours[question], took[question] = counted(answers[0][0]), min(seconds for _, seconds in answers)
        logs, events = total(ours), events_of(home)
    # After the server's end, which writes its log of changes back.
    stored = sum(file.stat().st_size for file in served.data.parent.glob("fleet.sqlite*"))
    rows = [row("weavewatch-server", loaded_s, took, {question: True for question in ours}, stored / events)]
    for name, engine in (("DuckDB", DuckDb), ("ClickHouse (chDB)", ChDb)):
        if importlib.util.find_spec(engine.MODULE) is None:
            rows.append([name, "missing"] + [""] * (len(QUESTIONS) + 1))
            continue
        began = time.monotonic()
        running = engine(home)
        loading_s = time.monotonic() - began
        took, right = {}, {}
        for question, (_, statement) in QUESTIONS.items():
            answer = running.ask(statement)
            runs = []
            for _ in range(asked.runs):
                began = time.monotonic()
                running.ask(statement)
                runs.append(time.monotonic() - began)
            took[question] = min(runs)
            right[question] = sorted(line[-4:] for line in answer) == ours[question]
        rows.append(row(name, loading_s, took, right, running.size() / events))
    print(f"{logs} logs of {len(machines)} machines, {events} events; best of {asked.runs} runs, in milliseconds. "
          "`differs` is said where the counts are not those of the server.\n")
    print(table(["", "load, s", *QUESTIONS, "bytes an event on disk"], rows))


def row(name, loaded_s, took, right, bytes_per_event):
    cells = [f"{1000 * took[question]:.2f}{'' if right[question] else ', differs'}" for question in QUESTIONS]
    return [name, f"{loaded_s:.1f}", *cells, f"{bytes_per_event:.1f}"]


def counted(answer):
    """Logs, killed, crossing every present and machines of each group, sorted."""
    groups = answer["groups"] or [answer["total"]]
    return sorted((group["logs"], group["killed"], group["crossing"]["every_present"], group["machines"]) for group in groups)


def total(ours):
    return ours["the fleet's totals"][0][0]


def events_of(home):
    """How many events there are; every engine reads the same file."""
    import duckdb
    return duckdb.execute("select count(*) from read_parquet($1)", [str(home / "events.parquet")]).fetchone()[0]


class DuckDb:
    MODULE = "duckdb"

    def __init__(self, home):
        import duckdb
        self.file = home / "fleet.duckdb"
        self.connection = duckdb.connect(str(self.file))
        for name in ("logs", "events"):
            self.connection.execute(f"create table {name} as select * from read_parquet('{home / name}.parquet')")
        self.connection.execute("checkpoint")

    def ask(self, statement):
        return [tuple(int(cell) if isinstance(cell, (int, float)) else cell for cell in line) for line in self.connection.execute(statement).fetchall()]

    def size(self):
        return self.file.stat().st_size


class ChDb:
    MODULE = "chdb"

    def __init__(self, home):
        from chdb import session
        self.folder = home / "chdb"
        self.session = session.Session(str(self.folder))
        for name in ("logs", "events"):
            self.session.query(
                f"create table {name} engine = MergeTree order by tuple() settings allow_nullable_key = 1 "
                f"as select * from file('{home / name}.parquet', Parquet)"
            )

    def ask(self, statement):
        import json
        lines = str(self.session.query(statement, "JSONCompactEachRow")).splitlines()
        return [tuple(int(cell) if isinstance(cell, str) and cell.isdigit() else cell for cell in json.loads(line)) for line in lines]

    def size(self):
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())
