"""`topics`: make the Kafka topics of the contract, and compare a broker with it."""

from ops.commands.reply import FALSE, TRUE, Json, answer, commands, say

app = commands()


@app.callback()
def topics() -> None:
    """Create the Kafka topics; compare them with the contract (schemas/topics.py).

    Connection: REFUND_BENCH_BROKER, and REFUND_BENCH_KAFKA_<PROPERTY> for security.
    Copies: REFUND_BENCH_REPLICATION; without it 3, or as many as there are brokers.
    """


@app.command()
def create(as_json: Json = False) -> None:
    """Create every topic, and the changelog of each stage that keeps state; touch nothing that is there.

    Run it before the apps: they refuse to start on topics with other partitions. It can be run again.

    Examples:

      refund-bench topics create
      REFUND_BENCH_BROKER=kafka:9092 REFUND_BENCH_REPLICATION=3 refund-bench topics create --json
    """
    from ops.reachable import need_kafka
    from topologies import clients
    from topologies.topic_admin import create_topics

    need_kafka()
    created = create_topics()

    def tell() -> None:
        for name in created:
            say(f"created {name}")
        say(f"{len(created)} topics created on {clients.broker()}; the others were there")

    answer(as_json, {"ok": True, "broker": clients.broker(), "created": created}, tell)


@app.command()
def describe(as_json: Json = False) -> None:
    """Say where the broker's topics differ from the contract; exit code 1 where any does.

    Partitions, copies, retention, compaction, message size, timestamp type, minimum in-sync copies, and
    changelogs of a stage under another set of inputs, on which that stage refuses to start.

    Examples:

      refund-bench topics describe
      refund-bench topics describe --json | jq '.differences'
    """
    from ops.reachable import need_kafka
    from topologies import clients
    from topologies.topic_admin import as_row, describe_topics

    need_kafka()
    found, differences = describe_topics()

    def tell() -> None:
        for topic in found:
            kept = topic["config"].get("retention.ms", "-1")
            days = "for ever" if kept == "-1" else f"{int(kept) // 86_400_000} days"
            say(
                f"{topic['name']:40} {topic['partitions']:3} partitions  {topic['replication']} copies  "
                f"{topic['config']['cleanup.policy']:8} {days}"
            )
        for one in differences:
            say(f"DIFFERS {one.topic}: {one.what} is {one.found}, not {one.expected}; {one.remedy}")
        say(f"{len(found)} topics on {clients.broker()}, {len(differences)} differences")

    answer(
        as_json,
        {
            "ok": not differences,
            "broker": clients.broker(),
            "topics": found,
            "differences": [as_row(one) for one in differences],
        },
        tell,
        FALSE if differences else TRUE,
    )
