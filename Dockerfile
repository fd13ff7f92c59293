# partwright in a container: `docker run --rm partwright fingerprint kafka://host/topic --key key --partition partition`.
# It has Java for the embedded Kafka and Spark, runs as a user without rights, and keeps nothing.
ARG PYTHON=3.12

FROM rust:1.95.0-slim-bookworm AS wheel
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && python3 -m venv /build
COPY pyproject.toml /src/
RUN /build/bin/pip install --no-cache-dir "$(sed -n 's/^requires = \["\(.*\)"\]/\1/p' /src/pyproject.toml)"
COPY . /src
RUN cd /src \
    && /build/bin/maturin build --release --locked --out /dist

FROM python:${PYTHON}-slim-bookworm
LABEL org.opencontainers.image.title="partwright" \
      org.opencontainers.image.description="Where a Kafka record goes, and who reads it" \
      org.opencontainers.image.source="https://github.com/partwright/partwright" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
    && apt-get install --yes --no-install-recommends openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    pip install --no-cache-dir "$(ls /dist/*.whl)[demo,report,yaml,avro,remote,msk-iam]"
# The jars of Spark's Kafka connector are fetched at the first run, into this home.
RUN useradd --create-home --uid 10001 partwright
USER partwright
WORKDIR /home/partwright
ENTRYPOINT ["partwright"]
CMD ["--help"]
