"""The LLM stub as a process of a test's own, and clients of the real SDKs that point at it."""

import json
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
import openai
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import BaseModel

from ops.local.ports import accepts, free_port
from ops.local.tether import Child, kill_group, spawn
from ops.stub.pointing import pointing_at
from tests.support.wait import until


class StubProcess:
    """Start, switch faults, read the journal, kill and start again on the same port."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._flags = flags
        self._log = folder / "stub.log"
        self._child: Child | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What points our adapters at it."""
        return pointing_at(self.url)

    def start(self) -> None:
        argv = [sys.executable, "-m", "ops.cli", "stub", "--port", str(self.port), *self._flags]
        with open(self._log, "ab") as log:
            self._child = spawn(argv, log)
        until(lambda: accepts(self.port))

    def kill(self) -> None:
        if self._child is not None:
            kill_group(self._child)
            self._child = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def set_faults(self, **faults: Any) -> None:
        """What is left out is off."""
        self.call("POST", "/_faults", faults)

    def forget(self) -> None:
        """No faults beside those it was started with, and an empty journal."""
        self.call("DELETE", "/_faults")
        self.call("DELETE", "/_journal")

    def journal(self, entries: int = 100_000) -> dict[str, Any]:
        """Counts, and the entries of every request since it was last cleared."""
        told: dict[str, Any] = self.call("GET", f"/_journal?limit={entries}")
        return told


@contextmanager
def stub_process(folder: Path, *flags: str) -> Iterator[StubProcess]:
    process = StubProcess(folder, *flags)
    process.start()
    try:
        yield process
    finally:
        process.kill()


def claude(stub: StubProcess, key: str = "sk-ant-any", timeout_s: float = 10) -> AsyncAnthropic:
    """The real SDK, without its retries; and without a TLS context, which costs more than a test."""
    http = anthropic.DefaultAioHttpClient(verify=False)
    return AsyncAnthropic(
        api_key=key, base_url=stub.url, max_retries=0, timeout=timeout_s, http_client=http
    )


def gpt(stub: StubProcess, key: str = "sk-any", timeout_s: float = 10) -> AsyncOpenAI:
    """The same of the other API."""
    http = openai.DefaultAioHttpClient(verify=False)
    return AsyncOpenAI(
        api_key=key, base_url=f"{stub.url}/v1", max_retries=0, timeout=timeout_s, http_client=http
    )


def extras(model: Any) -> set[str]:
    """Fields of an SDK's typed reply, at any depth, that the SDK has no name for."""
    found: set[str] = set()
    if isinstance(model, BaseModel):
        found |= set(model.model_extra or ())
        for name in type(model).model_fields:
            found |= extras(getattr(model, name))
    elif isinstance(model, list | tuple):
        for part in model:
            found |= extras(part)
    return found
