"""Put the parts together and serve them until told to stop."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from aiohttp import web

from ops.stub.answering import Answering, OfflineAnswers
from ops.stub.catalogue import Catalogue
from ops.stub.faults import Faults
from ops.stub.openai_request import DIALECT as OPENAI
from ops.stub.reading import Reader
from ops.stub.script import ScriptedAnswers, read_script
from ops.stub.server import Stub
from ops.stub.wire import Dialect
from streams.llm.catalogue import load
from streams.policies.loader import SHIPPED, PackRegistry

MANY_AT_ONCE = 4_096
"""Connections that may wait to be accepted: a burst must meet the limits, not a full backlog."""


def stub(
    faults: Faults | None = None,
    script: Path | None = None,
    models: Iterable[str] = (),
    environment: Mapping[str, str] = os.environ,
) -> Stub:
    """A stub that knows the shipped packs and those of `REFUND_BENCH_PACKS`, and offers every model that
    a seat may name, those of `REFUND_BENCH_MODELS` and of `models` included.

    Raises:
        ScriptError, PackError, Misconfigured: a script, pack or list of models that cannot be used.
    """
    chosen = faults or Faults()
    added = [root for root in environment.get("REFUND_BENCH_PACKS", "").split(os.pathsep) if root]
    reader = Reader(PackRegistry.load(SHIPPED, *added))
    disagreement = float(environment.get("REFUND_BENCH_OFFLINE_DISAGREEMENT") or 0)
    answering: Answering = OfflineAnswers(reader, disagreement, chosen.seed)
    if script is not None:
        answering = ScriptedAnswers(read_script(script), answering)
    return Stub(
        reader,
        answering,
        chosen,
        Catalogue(named_models(environment) | dict.fromkeys(models, OPENAI)),
    )


def named_models(environment: Mapping[str, str]) -> dict[str, Dialect]:
    """The models that a seat may name, each with the API it is asked by."""
    known = load(environment)
    return {name: known.provider(facts.provider).dialect for name, facts in known.models.items()}


def serve(one: Stub, host: str, port: int) -> None:
    """Block until SIGINT or SIGTERM. A client that hangs up ends its call."""
    web.run_app(
        one.app(),
        host=host,
        port=port,
        access_log=None,
        print=None,
        backlog=MANY_AT_ONCE,
        handler_cancellation=True,
        shutdown_timeout=1,
    )
