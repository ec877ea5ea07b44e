"""Posts a made-up fleet to a server, so that engines have something to count: always the same logs.

    fleet.py URL [LOGS]

With a token of scope agent in WEAVEWATCH_TOKEN; 20,000 logs of 400 machines over 60 days if nothing else is said.
"""
import datetime
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request

LOGS_OF_A_MACHINE = 50
DAYS = 60
RECORD_BYTES = 180
REASONS = [
    ([], 1), ([], 1), ([], 1), (["killed_by_env"], 0), (["same_adapter"], 0), (["dp_refused_scanout"], 0),
    (["no_hwnd", "presenter_ineligible"], 0),
]
FUNCTIONS = ["d3d11_log_weave_placement", "d3d12_log_weave_placement", "vk_log_weave_placement"]


def main():
    url, logs = sys.argv[1].rstrip("/"), int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    chance = random.Random(14)
    start = time.monotonic()
    for first in range(0, logs, LOGS_OF_A_MACHINE):
        numbers = range(first, min(first + LOGS_OF_A_MACHINE, logs))
        batch = {
            "schema": "weavewatch.batch/1",
            "machine": f"{first // LOGS_OF_A_MACHINE + 1:032x}",
            "agent": "fleet.py",
            "segments": [log(number, chance) for number in numbers],
        }
        answer = post(url, batch)
        if answer["refused"]:
            sys.exit(f"refused: {answer['refused'][0]}")
    print(f"{logs} logs in {time.monotonic() - start:.0f} s")


def post(url, batch):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ['WEAVEWATCH_TOKEN']}"}
    body = json.dumps(batch).encode()
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{url}/api/v1/ingest", body, headers)) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code != 429:
                sys.exit(f"{error.code}: {error.read().decode()}")
            time.sleep(float(error.headers.get("Retry-After", 1)))


def log(number, chance):
    day = datetime.date(2026, 8, 1) + datetime.timedelta(days=chance.randrange(DAYS))
    # A few logs do not tell when they began.
    started = None if number % 97 == 0 else f"{day}T{chance.randrange(24):02}:{chance.randrange(60):02}:00"
    observations = [placement(chance)] + [window(place, chance) for place in range(1, chance.randrange(4, 16))]
    events = len(observations)
    counts = dict.fromkeys(["ignored", "continuations", "truncated", "spliced", "empty_bodies", "unrecognised"], 0)
    counts |= {"bytes": events * RECORD_BYTES, "lines": events, "records": events, "events": events}
    return {
        "log": f"{number + 1:032x}",
        "file": f"DisplayXR_Viewer{number % 5}.exe.{number}.log",
        "start": 0,
        "end": events * RECORD_BYTES,
        "facts": {
            "input": "log",
            "process": {"exe": f"Viewer{number % 5}.exe", "pid": number + 1, "started": started},
            "end": "footer",
            "counts": counts,
        },
        "observations": [{"event": event} for event in observations],
    }


def placement(chance):
    reasons, split = chance.choice(REASONS)
    same = reasons == ["same_adapter"]
    return {
        "offset": 0,
        "line": 1,
        "level": "warn",
        "function": chance.choice(FUNCTIONS),
        "shape": "wp.g2.on_scanout" if split else "wp.g2.on_render",
        "kind": "placement",
        "fields": {
            "render.name": {"text": f"NVIDIA GeForce RTX {chance.choice([2, 3, 4])}080 Laptop GPU"},
            "render.luid": {"luid": "00000000:00015f3a"},
            "scanout.name": {"text": "Intel(R) Iris(R) Xe Graphics"},
            "scanout.luid": {"luid": "00000000:00015f3a" if same else "00000000:00013c07"},
            "reasons": {"reasons": reasons},
            "split": {"uint": split},
            "generation": {"uint": 2},
        },
    }


def window(place, chance):
    return {
        "offset": place * RECORD_BYTES,
        "line": place + 1,
        "level": "warn",
        "shape": "win.render",
        "kind": "window",
        "fields": {"fps": {"decimal": f"{chance.randrange(90)}.{chance.randrange(10)}"}, "frame": {"uint": place * 180}},
    }


main()
