"""`stub`: a provider on this machine that the real SDKs talk to."""

from typing import Annotated

import typer

from ops.commands.reply import commands, note, refuse

app = commands()


@app.command()
def stub(
    port: Annotated[int, typer.Option(help="Where it listens; /v1 is below it.")] = 8182,
    host: Annotated[str, typer.Option(help="0.0.0.0 in a container of its own.")] = "127.0.0.1",
    script: Annotated[
        str | None,
        typer.Option(help="JSON lines of replies; what none matches goes to offline-rules."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="A model to offer by the OpenAI API beside the known ones; may be repeated."
        ),
    ] = None,
    latency: Annotated[
        str, typer.Option(help="Seconds: 1.5, 1-2 (uniform), lognormal:MEDIAN:SIGMA.")
    ] = "0",
    stragglers: Annotated[
        str, typer.Option(help="SHARE:SECONDS of the calls that take so long instead.")
    ] = "0:30",
    faults: Annotated[
        str,
        typer.Option(help="Shares by name, as rate_limited=0.05,html=0.01, or everything=0.1."),
    ] = "",
    rpm: Annotated[
        float | None, typer.Option(help="Requests a minute that are admitted; the rest get 429.")
    ] = None,
    admit_per_s: Annotated[float | None, typer.Option(help="The same, a second.")] = None,
    burst: Annotated[
        float | None, typer.Option(help="How many at once, after a pause; one second's worth.")
    ] = None,
    retry_after: Annotated[float, typer.Option(help="Seconds that a 429 of --faults tells.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed, the same faults and latencies.")] = 0,
) -> None:
    """Serve the Anthropic Messages and the OpenAI chat API until Ctrl-C, answered by offline-rules.

    Every reply is marked as simulated, and no real payment gateway takes money on its word. Any key is
    accepted, save those that begin with `revoked` (401) or `forbidden` (403).

    While it runs, POST /_faults changes what goes wrong, and GET /_journal tells every request it got.

    Examples:

      refund-bench stub --port 8182 --latency 1-2 --faults everything=0.1
      ANTHROPIC_BASE_URL=http://127.0.0.1:8182 ANTHROPIC_API_KEY=any refund-bench up --provider anthropic
      OPENAI_BASE_URL=http://127.0.0.1:8182/v1 OPENAI_API_KEY=any refund-bench up --provider openai
      curl -s -d '{"everything": 0.1, "seed": 7}' http://127.0.0.1:8182/_faults
    """
    from pathlib import Path

    from pydantic import ValidationError

    from ops.local.ports import port_is_free
    from ops.stub.faults import Faults
    from ops.stub.script import ScriptError
    from ops.stub.serve import serve
    from ops.stub.serve import stub as make

    if rpm and admit_per_s:
        refuse("--rpm and --admit-per-s are one limit", "give one of them")
    late, _, late_s = stragglers.partition(":")
    everything, shares = _shares(faults)
    try:
        chosen = Faults.model_validate(
            {
                "seed": seed,
                "latency": latency,
                "stragglers": late,
                "straggler_s": late_s or 30,
                "shares": shares,
                "everything": everything,
                "retry_after_s": retry_after,
                "admit_per_s": rpm / 60 if rpm else admit_per_s,
                "burst": burst,
            }
        )
    except ValidationError as error:
        for fault in error.errors():
            where = ".".join(map(str, fault["loc"])) or "--faults"
            said = fault["msg"].removeprefix("Value error, ")
            refuse(f"{where}: {said}", "see `refund-bench stub --help`")
    if not port_is_free(port):
        refuse(f"--port {port} is taken", "choose another, or stop what listens there")
    try:
        one = make(chosen, Path(script) if script else None, model or ())
    except ScriptError as error:
        refuse(f"--script {error}", "see ops/stub/script.py for the form of a line")
    note(
        f"SIMULATED models at http://{host}:{port} (Anthropic) and http://{host}:{port}/v1 (OpenAI)"
    )
    serve(one, host, port)


def _shares(said: str) -> tuple[str, dict[str, str]]:
    """`everything`, and the share of each fault named."""
    shares: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in said.split(","))):
        name, equals, share = part.partition("=")
        if not equals:
            refuse(f"--faults {part!r} has no share", "write NAME=SHARE, as html=0.01")
        shares[name.strip()] = share.strip()
    return shares.pop("everything", "0"), shares
