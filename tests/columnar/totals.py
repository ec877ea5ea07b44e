"""What DuckDB reads in a columnar copy, as JSON: the fleet's totals by the manifest, and again from the bare folders.

    totals.py FOLDER [MACHINE]

With a machine, also in how many rows of either table it is named.
"""
import json
import sys
from pathlib import Path

import duckdb

TOTALS = """
select count(*) as logs, count(distinct machine) as machines,
    count(*) filter (where split = 'engaged') as split_engaged,
    count(*) filter (where split = 'off') as split_off,
    count(*) filter (where split = 'unknown') as split_unknown,
    count(*) filter (where crossing = 'none') as crossing_none,
    count(*) filter (where crossing = 'atlas_per_frame') as crossing_atlas_per_frame,
    count(*) filter (where crossing = 'every_present') as crossing_every_present,
    count(*) filter (where crossing = 'unknown') as crossing_unknown,
    count(*) filter (where interop_crossing) as interop_crossing,
    count(*) filter (where killed) as killed,
    count(*) filter (where retired) as retired,
    count(*) filter (where basis = 'corrected') as corrected
from logs
"""
BY_REASON = """
select token, count(*) as logs, count(distinct machine) as machines
from (select machine, unnest(case when len(reasons) = 0 then [null] else reasons end) as token from logs)
group by token order by logs desc, token nulls first
"""
BY_DAY = "select cast(day as varchar), count(*) from logs group by day order by day nulls first"
TYPES = "select column_name, column_type from (describe logs)"


def main():
    root = Path(sys.argv[1])
    manifest = json.loads((root / "manifest.json").read_text())
    files = {"logs": [], "events": []}
    for day in manifest["days"]:
        for file in day["files"]:
            files[file["table"]].append(str(root / file["path"]))
    answer = {"duckdb": duckdb.__version__}
    named = {table: f"read_parquet({files[table]!r}, hive_partitioning = true)" for table in files if files[table]}
    bare = {table: f"read_parquet('{root}/{table}/day=*/part-*.parquet', hive_partitioning = true)" for table in named}
    answer["manifest"] = ask(named)
    answer["folders"] = ask(bare)
    if len(sys.argv) > 2:
        answer["named"] = 0
        for source in named.values():
            (rows,) = duckdb.execute(f"select count(*) from {source} where machine = ?", sys.argv[2:3]).fetchone()
            answer["named"] += rows
    print(json.dumps(answer))


def ask(sources):
    connection = duckdb.connect()
    for table, source in sources.items():
        connection.execute(f"create view {table} as select * from {source}")
    cursor = connection.execute(TOTALS)
    total = dict(zip((column[0] for column in cursor.description), cursor.fetchone()))
    events = connection.execute("select count(*) from events").fetchone()[0] if "events" in sources else 0
    return {
        "total": total,
        "events": events,
        "reasons": [list(row) for row in connection.execute(BY_REASON).fetchall()],
        "days": [list(row) for row in connection.execute(BY_DAY).fetchall()],
        "types": dict(connection.execute(TYPES).fetchall()),
    }


if __name__ == "__main__":
    main()
