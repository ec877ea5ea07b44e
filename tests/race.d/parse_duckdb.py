"""The last placement of each log, by DuckDB: parse_duckdb.py PATH PATTERN."""
import sys
from pathlib import Path

import duckdb

path, pattern = Path(sys.argv[1]), sys.argv[2]
files = str(path / "**" / "*.log") if path.is_dir() else str(path)
# A separator that no log holds, so that a line is one cell; lines that are no text are left out.
lines = (
    "read_csv($files, columns = {'line': 'varchar'}, header = false, auto_detect = false, delim = '\x01', quote = '', "
    "escape = '', ignore_errors = true, strict_mode = false, filename = true, max_line_size = 16777216)"
)
# Each line starts with its time, so the greatest is the last.
answer = duckdb.execute(
    f"""copy (
        select filename, regexp_extract(last, $pattern, 1), regexp_extract(last, $pattern, 2), regexp_extract(last, $pattern, 3)
        from (select filename, max(line) as last from {lines}
              where contains(line, 'weave placement: render=') and regexp_matches(line, $pattern) group by filename)
    ) to '/dev/stdout' (format csv, header false)""",
    {"files": files, "pattern": pattern},
)
