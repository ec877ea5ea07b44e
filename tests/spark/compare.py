"""Do Spark and DuckDB count in a columnar copy what the server answers? One line a count; exit code 1 when any differs.

    compare.py FOLDER URL

FOLDER is the copy, URL the server, with a reader's token in WEAVEWATCH_TOKEN where it wants one. Needs Java 17, and pyspark and
duckdb from PyPI. Everything is read by the manifest: total, by outcome, by reason and by day.
"""
import json
import os
import sys
import time
import urllib.request
from pathlib import Path

import duckdb
import pyspark
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "columnar"))
from totals import TOTALS  # noqa: E402

# Both engines run these as they stand; `{reasons}` is the one thing that they spell differently.
GROUPS = {
    "outcome": "select outcome, count(*), count(distinct machine) from logs group by outcome",
    "reason": "select token, count(*), count(distinct machine) from (select machine, {reasons} as token from logs) r group by token",
    "day": "select cast(day as varchar(10)), count(*), count(distinct machine) from logs group by day",
}
EVENTS = "select count(*) from events"


def main():
    root, url = Path(sys.argv[1]).resolve(), sys.argv[2].rstrip("/")
    manifest = json.loads((root / "manifest.json").read_text())
    files = {"logs": [], "events": []}
    for day in manifest["days"]:
        for file in day["files"]:
            files[file["table"]].append(str(root / file["path"]))
    print(f"{len(files['logs'])} files of logs, {len(files['events'])} of events, {len(manifest['days'])} days")
    answers = {"summary": summary(url), "Spark": spark(root, files), "DuckDB": duck(files)}
    # What no engine is asked for, such as intervals.
    answers["summary"] = {name: cell for name, cell in answers["summary"].items() if ":" in name or name in answers["DuckDB"]}
    rows = sorted({name for answer in answers.values() for name in answer}, key=lambda name: (name.count(":"), name))
    width = max(map(len, rows))
    print(f"{'':<{width}}" + "".join(f"{engine:>16}" for engine in answers))
    differ = 0
    for name in rows:
        cells = [answer.get(name) for answer in answers.values()]
        # The server counts observations elsewhere; both engines are held against each other.
        told = [cell for cell in cells if cell is not None or name != "events"]
        same = len(set(told)) == 1
        differ += not same
        words = ["-" if cell is None else " / ".join(map(str, cell)) for cell in cells]
        print(f"{name:<{width}}" + "".join(f"{word:>16}" for word in words) + ("" if same else "  DIFFERS"))
    print(f"{len(rows)} counts, {differ} differ")
    sys.exit(1 if differ else 0)


def summary(url):
    answer = {}
    for word, group in {"total": None, **dict.fromkeys(GROUPS)}.items():
        query = "" if word == "total" else f"?group_by={word}"
        request = urllib.request.Request(f"{url}/api/v1/summary{query}")
        if token := os.environ.get("WEAVEWATCH_TOKEN"):
            request.add_header("Authorization", f"Bearer {token}")
        with urllib.request.urlopen(request) as response:
            body = json.load(response)
        if word == "total":
            for name, value in body["total"].items():
                inner = value.items() if isinstance(value, dict) else [(None, value)]
                answer.update({f"{name}_{part}" if part else name: (count,) for part, count in inner})
        for group in body["groups"]:
            answer[f"{word}: {group['key'][word]}"] = (group["logs"], group["machines"])
    return answer


def spark(root, files):
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        # A log's own wall clock has no zone.
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    print(f"Spark {pyspark.__version__}, Java {session.sparkContext._jvm.System.getProperty('java.version')}")
    for table, paths in files.items():
        session.read.option("basePath", str(root / table)).parquet(*paths).createOrReplaceTempView(table)
    session.table("logs").printSchema()

    def query(sql):
        frame = session.sql(sql)
        return frame.columns, [tuple(row) for row in frame.collect()]

    return ask("Spark", query, "explode_outer(reasons)")


def duck(files):
    print(f"DuckDB {duckdb.__version__}")
    connection = duckdb.connect()
    for table, paths in files.items():
        connection.execute(f"create view {table} as select * from read_parquet({paths!r}, hive_partitioning = true)")
    reasons = "unnest(case when len(reasons) = 0 then [null] else reasons end)"

    def query(sql):
        cursor = connection.execute(sql)
        return [column[0] for column in cursor.description], [tuple(row) for row in cursor.fetchall()]

    return ask("DuckDB", query, reasons)


def ask(engine, query, reasons):
    """The answers of an engine; `query` gives the names of the columns, and the rows."""
    start = time.monotonic()
    names, (counts,) = query(TOTALS)
    answer = {name: (count,) for name, count in zip(names, counts)}
    answer["events"] = query(EVENTS)[1][0]
    for word, sql in GROUPS.items():
        for key, logs, machines in query(sql.format(reasons=reasons))[1]:
            answer[f"{word}: {key}"] = (logs, machines)
    print(f"{engine} took {time.monotonic() - start:.1f} s for {len(GROUPS) + 2} questions")
    return answer


main()
