# One image for every app: `docker run IMAGE run intake`. Built in two steps so that compilers, caches and
# what only the tests and the local stand-ins need stay behind.
FROM python:3.12-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
RUN python -m venv /opt/refund-bench
COPY requirements.lock ./
RUN /opt/refund-bench/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY schemas schemas
COPY streams streams
COPY topologies topologies
COPY sinks sinks
COPY ops ops
RUN /opt/refund-bench/bin/pip install --no-deps --no-build-isolation . \
 && /opt/refund-bench/bin/pip uninstall -y -q \
      chdb chdb-core hypothesis mypy mypy-extensions pytest pytest-timeout ruff hatchling editables
RUN /opt/refund-bench/bin/refund-bench --help > /dev/null

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home refund \
 && install -d -o refund -g refund /var/lib/refund-bench
COPY --from=build /opt/refund-bench /opt/refund-bench
ENV PATH=/opt/refund-bench/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    REFUND_BENCH_LOG=json \
    REFUND_BENCH_STATE_DIR=/var/lib/refund-bench
USER refund
WORKDIR /var/lib/refund-bench
VOLUME /var/lib/refund-bench
ENTRYPOINT ["refund-bench"]
CMD ["--help"]
