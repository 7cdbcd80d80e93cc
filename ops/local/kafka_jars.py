"""Apache Kafka's own jars, fetched once with Maven into the user's cache folder."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from ops.local.errors import DependencyMissing

KAFKA_VERSION = "4.1.1"
SCALA_VERSION = "2.13"
LOG4J_VERSION = "2.24.3"  # what this Kafka is built with; it adds the binding the broker logs by
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>refund-bench</groupId><artifactId>local-kafka</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_{SCALA_VERSION}</artifactId>
      <version>{KAFKA_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId>
      <version>{LOG4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


def kafka_jars(java: str) -> Path:
    """The folder of jars; whoever comes first fetches it, everybody else waits for the lock."""
    cache = cache_folder()
    jars = cache / f"kafka-{KAFKA_VERSION}"
    if jars.is_dir():  # renamed into place only when complete
        return jars
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / f"{jars.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not jars.is_dir():
            _fetch(java, jars)
    return jars


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "refund-bench"


def _fetch(java: str, jars: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise DependencyMissing(
            f"`mvn` was not found: Apache Kafka {KAFKA_VERSION} is fetched with Maven the first "
            "time. Either install Maven, or use containers: `docker compose up`."
        )
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix=".fetching-") as scratch:
        pom = Path(scratch) / "pom.xml"
        pom.write_text(POM)
        copied = Path(scratch) / "jars"
        only_what_runs = ["-DincludeScope=runtime", f"-DoutputDirectory={copied}"]
        answer = subprocess.run(
            [maven, "-q", "-B", "--strict-checksums", "-f", str(pom), PLUGIN, *only_what_runs],
            capture_output=True,
            text=True,
            env={"JAVA_HOME": str(Path(java).resolve().parent.parent), **os.environ},
        )
        if answer.returncode != 0 or not list(copied.glob("kafka_*.jar")):
            raise DependencyMissing(
                f"Maven could not fetch Apache Kafka {KAFKA_VERSION}: "
                f"{(answer.stdout + answer.stderr).strip()[-800:]}\n"
                "Either give Maven a reachable repository (~/.m2/settings.xml), "
                "or use containers: `docker compose up`."
            )
        copied.rename(jars)
