"""The last placement of each log, by Polars: parse_polars.py PATH PATTERN."""
import sys
from pathlib import Path

import polars as pl

path, pattern = Path(sys.argv[1]), sys.argv[2]
files = str(path / "**" / "*.log") if path.is_dir() else str(path)
line = pl.col("line")
lines = pl.scan_csv(
    files, has_header=False, separator="\x01", quote_char=None, new_columns=["line"], schema={"line": pl.String},
    encoding="utf8-lossy", include_file_paths="file", truncate_ragged_lines=True,
)
last = lines.filter(line.str.contains("weave placement: render=", literal=True) & line.str.contains(pattern)).group_by("file").agg(line.max())
parts = last.select("file", *(line.str.extract(pattern, group).fill_null("").alias(str(group)) for group in (1, 2, 3)))
sys.stdout.write(parts.collect(engine="streaming").write_csv(include_header=False))
