# Node 24 is supported until April 2028. test/peers/container-image.test.ts carries out the steps of this file.
FROM node:24-bookworm-slim
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Castellan" \
      org.opencontainers.image.description="Multi-tenant, event-sourced back end of a browser-extension credential-protection product" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev && npm cache clean --force
COPY tsconfig.json ./
COPY bin bin
COPY scripts scripts
COPY src src
COPY commands commands
COPY projections projections
COPY queries queries
# Bundled now, so that the file system may be read-only later: service, command line, and the module of worker threads.
RUN node scripts/run.mjs --bundle src/main.ts src/cli.ts src/contexts/audit/segment-verification-thread.ts
# A new volume takes owner and mode from here. The number of the user is what `runAsNonRoot` of Kubernetes checks.
RUN mkdir /data && chown 1000:1000 /data && chmod 700 /data
ENV HOST=0.0.0.0 PORT=8080 TLS_PORT=8443 DATA_DIR=/data PATH=/app/bin:$PATH
USER 1000:1000
VOLUME /data
EXPOSE 8080 8443
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "scripts/healthcheck.mjs"]
CMD ["node", "scripts/run.mjs", "src/main.ts"]
