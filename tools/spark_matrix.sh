#!/usr/bin/env bash
# Runs the Spark tests and a small `partwright run` on other PySparks: spark_matrix.sh [--list] [--wheel FILE] [VERSION ...]
# Each version has its own .venv-spark-VERSION: the built wheel, and the locked packages except PySpark.
# python/partwright/kafka/jars.py has the table of their Kafka connectors.
set -euo pipefail
CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
# Variables that a shell carries over from other work must not decide what is tested here, as in the Makefile.
unset VIRTUAL_ENV CONDA_PREFIX PYTHONPATH PYTHONHOME SPARK_HOME SPARK_CONF_DIR SPARK_REMOTE
unset PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON PYSPARK_SUBMIT_ARGS

# The newest patch release of each minor version on PyPI; the oldest one first.
VERSIONS=(3.5.9 4.0.5 4.1.4 4.2.1 4.3.0)

refuse() {
    printf 'spark_matrix.sh: %s\n' "$1" >&2
    exit 2
}

uv() {
    .venv/bin/python -m uv --quiet "$@"
}

# Makes an environment with one version of PySpark; quick if it exists already: environment VERSION FOLDER.
environment() {
    local requirements="$2/requirements.txt"
    [ -x "$2/bin/python" ] || uv venv --python .venv/bin/python "$2"
    # py4j belongs to PySpark, which wants exactly one version of it. PySpark 3.5 imports distutils, which Python 3.12 no
    # longer has.
    uv export --locked --all-extras --group dev --no-hashes --no-emit-project --no-header --no-annotate |
        sed -e "s/^pyspark==.*/pyspark==$1/" -e '/^py4j==/d' >"$requirements"
    [ "${1%.*}" != 3.5 ] || echo 'setuptools ; python_version >= "3.12"' >>"$requirements"
    uv pip install --python "$2/bin/python" --requirements "$requirements"
    uv pip install --python "$2/bin/python" --no-deps --reinstall "$wheel"
}

# `partwright run` on the first records; its report must contain the proof: main_job PYTHON.
main_job() {
    "$1" -m partwright run --runner spark --limit 20000 -n 7 --json | "$1" -c '
import json, sys
proof = json.load(sys.stdin)["proof"]
print("partwright run: the Java producer chose the same partition for {equal:,} keyed records, another for {different:,}".format(**proof))
sys.exit(not (proof["equal"] > 0 and proof["different"] == proof["lost"] == 0))
'
}

if [ "${1:-}" = --list ]; then
    echo "${VERSIONS[@]}"
    exit
fi
wheel=
if [ "${1:-}" = --wheel ]; then
    wheel=${2:-}
    shift 2
else
    for wheel in target/wheels/*.whl; do :; done
fi
[ -f "$wheel" ] || refuse "there is no wheel ${wheel:-}: run \`make spark-matrix\`, which builds it."
[ $# -gt 0 ] || set -- "${VERSIONS[@]}"

for version in "$@"; do
    folder=.venv-spark-$version
    printf '\n== PySpark %s\n' "$version"
    environment "$version" "$folder"
    "$folder/bin/python" -c "import pyspark, sys; sys.exit(pyspark.__version__ != '$version')" ||
        refuse "$folder has another PySpark than $version: remove that folder."
    "$folder/bin/python" -c '
from partwright.kafka.jars import connector_set
from partwright.spark.classic import installed_spark
print("Kafka connector:", connector_set(installed_spark()))
'
    # One test in PARTWRIGHT_ONE_OF runs, drawn by PARTWRIGHT_SEED; by default all of them.
    # The docstrings show the locked PySpark's output.
    "$folder/bin/python" -m pytest -p no:cacheprovider --numprocesses 2 --dist loadfile --no-loadscope-reorder \
        -m "slow and spark" --ignore tests/spark/test_docstrings.py tests/spark
    main_job "$folder/bin/python"
done
