# The service; docs/service.md describes it, and how to pin the image by digest.
ARG PYTHON=docker.io/library/python:3.12-slim

FROM ${PYTHON} AS build
COPY . /src
RUN python -m venv /opt/factcheck \
    && /opt/factcheck/bin/pip install --no-cache-dir '/src[server,redis]'

FROM ${PYTHON}
COPY --from=build /opt/factcheck /opt/factcheck
RUN install --directory --owner=10001 --group=10001 /data
ENV PATH=/opt/factcheck/bin:$PATH HOME=/tmp PYTHONDONTWRITEBYTECODE=1 FACTCHECK_CACHE_DIR=/data/cache
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=2)"]
ENTRYPOINT ["factcheck", "serve", "--host", "0.0.0.0", "--jobs-db", "/data/jobs.sqlite"]
CMD ["--keys", "/run/secrets/keys.yaml"]
