#!/usr/bin/env python3
"""Writes a log as a long session leaves it: per-frame records with changing numbers, and three placement records.

    noise.py SIZE_MIB FRAMES FILE   a session of that size; 3D-GATE records, which number themselves, come every
                                    FRAMES frames
    noise.py --hostile FOLDER       a folder that somebody filled with bad intent

The same call writes the same bytes. For tests/measure; no test reads it.
"""
import os
import random
import sys
from datetime import datetime, timedelta

RENDER = "'NVIDIA GeForce RTX 4080 Laptop GPU' LUID=00000000:00015f3a"
SCANOUT = "'Intel(R) Iris(R) Xe Graphics' LUID=00000000:00013c07"
PLACEMENT = (
    f"[WARN ] [d3d_log_weave_placement] weave placement: render={RENDER}, panel scanout={SCANOUT} — "
    "weave/present on the SCANOUT adapter (split=1) (#918)"
)
BLOCK_FRAMES = 2_000


def stamp(time):
    return time.strftime("[%Y-%m-%d %H:%M:%S.") + f"{time.microsecond // 1000:03d}] "


def frame(rng, number, time, gate_every):
    """The records of one frame, as a service client with the default log level writes them."""
    prefix = stamp(time)
    signal, pre, ipc = (rng.randrange(low, high) * 100 for low, high in ((90, 500), (50, 300), (1500, 130_000)))
    eyes = [f"({rng.uniform(-0.08, 0.08):.4f},{rng.uniform(-0.05, 0.2):.4f},{rng.uniform(0.4, 0.9):.4f})" for _ in "lr"]
    yield (
        f"{prefix}[WARN ] [submit_fallback] [COMMIT_PROFILE_CLIENT] client=00000219182B64F0 signal_ns={signal} "
        f"pre_ipc_ns={pre} ipc_ns={ipc} post_ipc_ns=0 total_ns={signal + pre + ipc}"
    )
    if number % gate_every == 0:
        yield (
            f"{prefix}[WARN ] [oxr_session_locate_views] 3D-GATE[{number}]: got_eyes=1 valid={rng.randrange(2)} count=2 "
            f"have_view_state=1 is_gl=0 has_ext_win=1 eye0={eyes[0]} eye1={eyes[1]}"
        )


def session(size_bytes, gate_every, path):
    rng = random.Random(918)
    start = datetime(2026, 9, 14, 12, 0, 0)
    written, number, placed = 0, 0, 0
    with open(path, "wb") as file:
        def put(lines):
            nonlocal written
            block = "".join(line + "\r\n" for line in lines).encode()
            file.write(block)
            written += len(block)

        put([
            "=== DisplayXR Log Started ===",
            r"Log file: C:\Users\user\AppData\Local\DisplayXR\DisplayXR_Viewer.exe.22428_2026-09-14_12-00-00.log",
            "Process: Viewer.exe (PID 22428)",
            "Timestamp: 2026-09-14 12:00:00",
            "============================",
            "",
        ])
        while written < size_bytes:
            lines = []
            # At the start, in the middle and near the end.
            if placed < 3 and written >= size_bytes * placed * 0.48:
                placed += 1
                lines.append(stamp(start + timedelta(seconds=number / 60)) + PLACEMENT)
            for _ in range(BLOCK_FRAMES):
                lines.extend(frame(rng, number, start + timedelta(seconds=number / 60), gate_every))
                number += 1
            put(lines)
        put(["", "=== DisplayXR Log Ended ==="])


def hostile(folder):
    rng = random.Random(747)
    os.makedirs(folder)
    for number in range(10_000):
        with open(os.path.join(folder, f"random_{number:05d}.log"), "wb") as file:
            file.write(rng.randbytes(rng.randrange(8192)))
    with open(os.path.join(folder, "one_line.log"), "wb") as file:
        for _ in range(1024):
            file.write(b"x" * (1 << 20))
    below = os.path.join(folder, "below")
    os.mkdir(below)
    os.symlink(os.path.abspath(folder), os.path.join(below, "loop"))
    os.symlink("/proc/self/mem", os.path.join(below, "unreadable.log"))
    os.symlink("circle.log", os.path.join(below, "circle.log"))
    with open(os.path.join(folder, "two\nlines \x1b[31mred.log"), "wb") as file:
        file.write(f"[2026-09-14 12:00:00.001] {PLACEMENT}\n".encode())


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--hostile":
        hostile(sys.argv[2])
    elif len(sys.argv) == 4:
        session(int(sys.argv[1]) << 20, int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit(__doc__)
