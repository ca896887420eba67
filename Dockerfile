# The tool with everything that it needs, pinned: the system by digest, the libraries by the lock file's hashes. It runs
# without a network, with the corpora mounted; docs/reviewing.md has the commands, and .ci/offline does without docker.
FROM python:3.11-slim-bookworm@sha256:b18992999dbe963a45a8a4da40ac2b1975be1a776d939d098c647482bcad5cba

# LIBSVM comes as source.
RUN apt-get update && apt-get install --yes --no-install-recommends g++ make && rm -rf /var/lib/apt/lists/*

WORKDIR /simplexbench
COPY requirements.lock ./
RUN python -m pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY . .
# The second line compiles the numba functions, once.
RUN python -m pip install --no-cache-dir --disable-pip-version-check --no-deps --editable . \
    && python -c 'import benchmark.experiment.run; from benchmark.system.numba_jit import compile_all; compile_all()'

ENV BENCH_DATASETS=/corpora BENCH_CACHE=/cache
VOLUME ["/corpora", "/cache", "/simplexbench/results/runs"]
ENTRYPOINT ["bench"]
CMD ["run", "quickstart"]
