-- What was seen in a log of a report, so that its page is drawn without the file: totals and observations as JSON, one a
-- line, packed with zstd. Null in rows of an older version and where there was too much of it; then the file is read.
alter table report_logs add column observations bytea;

-- From here on a report is committed before its files are packed: until then, `report_files.body` is empty. It stays so
-- when the server ends in between; what was said of the files is there all the same.
