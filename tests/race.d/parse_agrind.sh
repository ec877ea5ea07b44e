# The last placement of each log, by angle-grinder: parse_agrind.sh PATH. It knows no file names, so it is started for
# each log.
find "$1" -name '*.log' | while IFS= read -r log; do
    agrind --file "$log" --output json '"weave placement: render=" | parse "weave placement: render=*, panel scanout=* — *" as render, scanout, rest | fields render, scanout, rest' |
        tail -1 | python3 -c '
import csv, json, re, sys
for line in sys.stdin:
    row = json.loads(line)
    name = lambda text: re.sub(r"^\x27(.*)\x27 LUID=.*$", r"\1", text) if text.startswith("\x27") else ""
    csv.writer(sys.stdout).writerow([sys.argv[1], name(row["render"]), name(row["scanout"]), row["rest"].rstrip()])' "$log"
done
