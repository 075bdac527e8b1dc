# One image for every process of the fleet: `docker build --tag junban .` Without a command it is a worker; the others are
#
#   node apps/relay/dist/main.js                 node apps/cli/bin/junban.js migrate
#   node apps/gateway/dist/main.js               node apps/cli/bin/junban.js …
#   node apps/forwarder/dist/main.js [migrate]   node apps/console/dist/main.js [hash-password]
#
# It needs no shell, no writable file and no root. docs/deployment.md says how it is meant to run.

# Pinned by its tag. Whoever can reach the registry pins the digest as well: --build-arg NODE_IMAGE=node:…@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

# What the processes need to run, and nothing else. The manifests alone, so that a change of the source installs nothing.
FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/event-queues/package.json packages/event-queues/
COPY packages/handoff-lock/package.json packages/handoff-lock/
COPY packages/operations/package.json packages/operations/
COPY packages/order-store/package.json packages/order-store/
COPY packages/orders/package.json packages/orders/
COPY packages/relay/package.json packages/relay/
COPY packages/service/package.json packages/service/
COPY packages/tracing/package.json packages/tracing/
COPY packages/upstream-outbox/package.json packages/upstream-outbox/
COPY apps/cli/package.json apps/cli/
COPY apps/cli/bin apps/cli/bin
COPY apps/console/package.json apps/console/
COPY apps/console/bin apps/console/bin
COPY apps/forwarder/package.json apps/forwarder/
COPY apps/gateway/package.json apps/gateway/
COPY apps/relay/package.json apps/relay/
COPY apps/worker/package.json apps/worker/
# The compiler stays out by hand: a library that would use its types if it were there makes npm keep it.
RUN --mount=type=cache,target=/root/.npm npm ci --omit=dev --ignore-scripts --workspace=apps/cli --workspace=apps/console --workspace=apps/forwarder --workspace=apps/gateway --workspace=apps/relay --workspace=apps/worker && rm -r node_modules/typescript node_modules/@typescript node_modules/.bin/tsc

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY . .
# Without scripts: those of the throwaway servers unpack what only the tests and the demo use.
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts && npm run prepare

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app ./
COPY --from=build /app/migrations migrations
COPY --from=build /app/packages/event-queues/dist packages/event-queues/dist
COPY --from=build /app/packages/event-queues/lua packages/event-queues/lua
COPY --from=build /app/packages/handoff-lock/dist packages/handoff-lock/dist
COPY --from=build /app/packages/handoff-lock/lua packages/handoff-lock/lua
COPY --from=build /app/packages/operations/dist packages/operations/dist
COPY --from=build /app/packages/order-store/dist packages/order-store/dist
COPY --from=build /app/packages/orders/dist packages/orders/dist
COPY --from=build /app/packages/relay/dist packages/relay/dist
COPY --from=build /app/packages/service/dist packages/service/dist
COPY --from=build /app/packages/tracing/dist packages/tracing/dist
COPY --from=build /app/packages/upstream-outbox/dist packages/upstream-outbox/dist
COPY --from=build /app/packages/upstream-outbox/migrations packages/upstream-outbox/migrations
COPY --from=build /app/apps/cli/dist apps/cli/dist
COPY --from=build /app/apps/console/assets apps/console/assets
COPY --from=build /app/apps/console/dist apps/console/dist
COPY --from=build /app/apps/forwarder/dist apps/forwarder/dist
COPY --from=build /app/apps/gateway/dist apps/gateway/dist
COPY --from=build /app/apps/gateway/openapi.json apps/gateway/openapi.json
COPY --from=build /app/apps/relay/dist apps/relay/dist
COPY --from=build /app/apps/worker/dist apps/worker/dist

# By number, so that Kubernetes can see that it is not root. All files stay root's: a process cannot change its own program.
USER 10001:10001

# Health and metrics; the gateway's requests; the console's pages. All listen on the loopback address until a manifest says otherwise.
EXPOSE 9464 8464 7464

# No HEALTHCHECK: the image is also the `junban` command, which ends by itself, and Kubernetes would not look at it. The compose
# file has one for each service.

# Node is process 1 and hears SIGTERM itself: no shell and no npm in front of it, and the entrypoint of the base, a script, is
# taken away. It starts no other process, so an init would have nobody to bury.
ENTRYPOINT []
CMD ["node", "--max-semi-space-size=64", "apps/worker/dist/main.js"]
