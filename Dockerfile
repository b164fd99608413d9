# Build: the sources become JavaScript, and only what runs is kept.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
ARG REVISION=unknown
LABEL org.opencontainers.image.title="zlb-exporter" \
      org.opencontainers.image.description="Prometheus exporter for load balancers that speak the management API v4.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production ZLB_EXPORTER_REVISION=${REVISION}
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# For the audit of the gateway: a volume that is mounted here belongs to who writes it.
RUN install -d -o 1000 -g 1000 /var/lib/zlb-exporter
# The user `node` of the base image, by number so that Kubernetes can see that it is not root.
USER 1000:1000
EXPOSE 9444
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "/app/dist/main.js", "healthcheck"]
# Node.js would give new objects up to 128 MiB before it looks which of them are still needed; that buys nothing here.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--heap-growing-percent=20", "/app/dist/main.js"]
CMD ["--config.file=/etc/zlb-exporter/zlb.yml"]
