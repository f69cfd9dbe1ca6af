# One image for every process of the distributed lake: `upwell worker …`, `upwell gateway`, `upwell init`.
# The root file system may be read-only; what is written goes to /var/lib/upwell and /tmp, which are volumes then.

FROM python:3.12-slim AS builder
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv --without-pip /opt/upwell
COPY requirements-distributed.lock ./
RUN pip --python /opt/upwell/bin/python install --no-deps --only-binary :all: --require-hashes -r requirements-distributed.lock
COPY pyproject.toml README.md LICENSE ./
COPY services services
RUN pip --python /opt/upwell/bin/python install --no-deps --no-build-isolation . \
    && pip --python /opt/upwell/bin/python uninstall --yes hatchling trove-classifiers

FROM python:3.12-slim
RUN pip uninstall --yes pip \
    && install --directory --owner=10001 --group=10001 --mode=0750 /var/lib/upwell /etc/upwell
COPY --from=builder /opt/upwell /opt/upwell
ENV PATH=/opt/upwell/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 HOME=/var/lib/upwell TMPDIR=/tmp
WORKDIR /var/lib/upwell
USER 10001:10001
EXPOSE 8080
# Every long-running process answers on 8080 by convention: workers by `--port 8080`, the gateway by `--listen`.
HEALTHCHECK --interval=15s --timeout=5s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
ENTRYPOINT ["upwell"]
CMD ["--help"]
