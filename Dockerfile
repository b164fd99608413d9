# What the image stands on: the C++ library and the certificates of Debian; no shell, no package manager, and so nothing to start
# but Node.js. It comes for both platforms. docs/releasing.md tells why this one, and how a release names it by its digest.
ARG BASE=gcr.io/distroless/cc-debian13:nonroot

# The Node.js of the platform that the image is for: the release that the tests run on, without npm and yarn, which nobody needs
# there and whose advisories would be ours.
FROM node:24.21.0-trixie-slim AS node

# The sources become JavaScript, and only what runs is kept. It is the same for every platform, so it is done on this one.
FROM --platform=$BUILDPLATFORM node:24.21.0-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The one install script that there is would fetch one more Node.js.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY simulator ./simulator
# The runbooks that the exporter serves are made of this document.
COPY docs/operations.md ./docs/
COPY scripts/build-runbooks.ts ./scripts/
RUN npm run build && npm prune --omit=dev --ignore-scripts
# More than a half of the packages is never read by Node.js: types, sources, maps, manuals, tests. Their licences stay.
RUN find node_modules -type f ! -iname 'licen[cs]e*' \
      \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.md' \) -delete \
 && rm -rf node_modules/*/test node_modules/@*/*/test node_modules/*/.github node_modules/@*/*/.github
# The command of the documentation, for `docker exec`: where there is no `env`, the first line has to name Node.js itself.
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
# What changes least comes first: an update fetches what changed, and that is seldom Node.js.
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/package.json ./
COPY --from=build /app/dist ./dist
COPY alerts/zlb.rules.yml alerts/zlb-extended.rules.yml ./alerts/
COPY --from=build /app/commands /usr/local/bin
# For the audit of the gateway: a volume that is mounted here belongs to who writes it.
COPY --from=build --chown=1000:1000 /app/state /var/lib/zlb-exporter
ENV NODE_ENV=production ZLB_EXPORTER_REVISION=${REVISION}
# By number, so that Kubernetes can see that it is not root. It owns nothing of the program.
USER 1000:1000
EXPOSE 9444
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "/app/dist/src/main.js", "healthcheck"]
# Node.js is process 1 and gets the signals: SIGTERM ends it within 5 s, SIGHUP reads the configuration again. It starts no
# processes, so nobody has to reap any. Its own permissions are left to who runs it (docs/security.md): what they would refuse is not
# there or read-only, and they would have to know every folder that somebody mounts.
ENTRYPOINT ["node", "/app/dist/src/main.js"]
CMD ["--config.file=/etc/zlb-exporter/zlb.yml"]
