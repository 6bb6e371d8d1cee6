FROM node:20-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
COPY commands commands
COPY projections projections
COPY queries queries
RUN mkdir -p node_modules/.cache/castellan && chown node node_modules/.cache/castellan
USER node
EXPOSE 8080 8443
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/health').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "scripts/run.mjs", "src/main.ts"]
