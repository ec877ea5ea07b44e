"""Scan: how many records of a noisy log start with one of the markers."""
import json
import os
import shutil

import corpus
from measure import best, run, table

TITLE = "Scan: count the marker lines of one noisy log"
# What `scan --count` counts, contract section 3.
MARKERS = ["weave placement:", "vk deposit:", "[RENDER] ", "ADR-037", "#1264", "GL shared texture", "output-device split"]


def race(asked, work):
    log = str(corpus.noisy(asked, work))
    mib = os.path.getsize(log) / (1 << 20)
    patterns = [word for marker in MARKERS for word in ("-e", marker)]
    entrants = [
        ("wc -l", ["wc", "-l", log], "the lines only, a lower bound"),
        ("rg -c", ["rg", "-c", "-F", *patterns, log], "lines that hold a marker anywhere"),
        ("weavewatch scan --count", [asked.agent, "scan", "--count", "--format", "ndjson", log], "records that start with a marker"),
    ]
    taken = {name: [] for name, _, _ in entrants}
    for _ in range(asked.runs):
        for name, argv, _ in entrants:
            if shutil.which(argv[0]):
                taken[name].append(run(argv))
    rows = []
    for name, argv, what in entrants:
        if not taken[name]:
            rows.append([name, "missing", "", "", "", what])
            continue
        least = best(taken[name])
        answer = json.loads(least.out)["markers"] if "weavewatch" in name else least.out.split()[0].decode()
        rate = mib / 1024 / least.cpu_s
        rows.append([name, answer, f"{rate:.2f}", f"{mib / 1024 / least.wall_s:.2f}", f"{least.peak_mib:.0f}", what])
    print(f"{mib:.0f} MiB, best of {asked.runs} alternating runs; `rg -c -F {' '.join(f'-e {marker!r}' for marker in MARKERS)} LOG`.\n")
    print(table(["", "answer", "GiB per CPU second", "GiB per second", "memory, MiB", "counts"], rows))
    rg, ours = taken["rg -c"], taken["weavewatch scan --count"]
    if rg:
        ratio = best(rg).cpu_s / best(ours).cpu_s
        print(f"\nPer CPU second `scan --count` reaches {ratio:.2f} of `rg -c` (goal 0.7), by the clock "
              f"{best(rg).wall_s / best(ours).wall_s:.2f}.")
