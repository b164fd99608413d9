# The base has the C++ library and the certificates of Debian, and no shell or package manager. A release names it by its digest.
ARG BASE=gcr.io/distroless/cc-debian13:nonroot

# Node.js for the platform of the image, in the release of the tests. npm and yarn are left out, with their vulnerabilities.
FROM node:24.21.0-trixie-slim AS node

# Compiles the sources, and keeps only what runs. The result is the same for every platform.
FROM --platform=$BUILDPLATFORM node:24.21.0-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The only install script would fetch another Node.js.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY simulator ./simulator
# The exporter serves the runbooks of this document.
COPY docs/operations.md ./docs/
COPY scripts/before.sh scripts/build-runbooks.ts ./scripts/
RUN npm run build && npm prune --omit=dev --ignore-scripts
# Removes what Node.js never reads: types, maps, manuals, tests. Licences stay.
RUN find node_modules -type f ! -iname 'licen[cs]e*' \
      \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' \) -delete \
 && rm -rf node_modules/*/test node_modules/@*/*/test node_modules/*/.github node_modules/@*/*/.github
# Makes `zlb-exporter` a command for `docker exec`. The first line names Node.js, because the image has no `env`.
RUN sed -i '1s|.*|#!/usr/local/bin/node|' dist/src/main.js && chmod 755 dist/src/main.js \
 && mkdir -p commands state && ln -s /app/dist/src/main.js commands/zlb-exporter

FROM ${BASE}
ARG BASE
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="zlb-exporter" \
      org.opencontainers.image.description="Prometheus exporter, monitoring daemon and admin gateway for load balancers that speak the management API v4.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.documentation="${SOURCE}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="${BASE}"
# The layers that change least come first, so that an update fetches little.
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=node /usr/local/LICENSE /usr/local/share/doc/node/LICENSE
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY alerts/zlb.rules.yml alerts/zlb-extended.rules.yml alerts/zlb-requests.rules.yml ./alerts/
COPY --from=build /app/commands /usr/local/bin
# For the audit of the gateway. A new volume here gets the owner of this folder.
COPY --from=build --chown=1000:1000 /app/state /var/lib/zlb-exporter
ENV NODE_ENV=production ZLB_EXPORTER_REVISION=${REVISION}
# A number, so that Kubernetes can see that it is not root. The program belongs to root.
USER 1000:1000
EXPOSE 9444
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "/app/dist/src/main.js", "healthcheck"]
# Node.js is process 1 and gets the signals: SIGTERM ends it within 5 s, SIGHUP reloads the configuration. It starts no processes,
# so it needs no init. A small young generation of V8 takes less memory (bench/README.md). Set its permissions for the folders that you mount (docs/security.md).
ENTRYPOINT ["node", "--max-semi-space-size=2", "/app/dist/src/main.js"]
CMD ["--config.file=/etc/zlb-exporter/zlb.yml"]
