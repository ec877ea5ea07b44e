"""A server of ours on a throw-away SQLite file, for the races that need one."""
import json
import os
import subprocess
import time
import urllib.request


class Served:
    """A running `weavewatch-server serve`; ends with the block."""

    def __init__(self, asked, folder):
        folder.mkdir(parents=True)
        self.program, self.data = asked.server, folder / "fleet.sqlite"
        subprocess.run([self.program, "migrate", "--data", self.data], check=True, stdout=subprocess.DEVNULL)
        self.agent_token, self.reader_token = self._token("agent"), self._token("reader")
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", "127.0.0.1:0", "--data", self.data, "--uploads-per-second", "0", "--reads-per-second", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.url = self.process.stdout.readline().split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, question):
        """The answer to a question below `/api/v1/`, and what it took in seconds."""
        request = urllib.request.Request(f"{self.url}/api/v1/{question}", headers={"authorization": f"Bearer {self.reader_token}"})
        began = time.monotonic()
        with urllib.request.urlopen(request) as answer:
            body = answer.read()
        return json.loads(body), time.monotonic() - began

    def export(self, table, form, file):
        """Writes a table to a file."""
        self._run("export", "--table", table, "--format", form, "--data", self.data, file)

    def agent_environment(self):
        """What an agent needs to know, beside its options."""
        return {**os.environ, "WEAVEWATCH_TOKEN": self.agent_token}

    def _token(self, scope):
        return self._run("token", "create", "--scope", scope, "--data", self.data).strip()

    def _run(self, *words):
        return subprocess.run([self.program, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
