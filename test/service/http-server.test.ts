import { once } from "node:events";
import { connect } from "node:net";
import {
  HttpListenError,
  type HttpServerOptions,
  createProcessMetrics,
  startHttpServer,
} from "@junban/service";
import { expect, onTestFinished, test } from "vitest";

async function serve(changes: Partial<HttpServerOptions> = {}): Promise<{ base: string; port: number }> {
  const server = await startHttpServer({
    port: 0,
    live: () => true,
    ready: async () => ({ ok: true, detail: { redis: "ok" } }),
    metrics: async () => "junban_events_total 7\n",
    ...changes,
  });
  onTestFinished(async () => server.close());
  return { base: `http://127.0.0.1:${server.port}`, port: server.port };
}

test("answers probes and scrapes", async () => {
  const { base } = await serve();
  const live = await fetch(`${base}/livez`);
  expect([live.status, await live.text()]).toEqual([200, "ok\n"]);
  const ready = await fetch(`${base}/readyz?verbose`);
  expect([ready.status, await ready.json()]).toEqual([200, { ok: true, redis: "ok" }]);
  const metrics = await fetch(`${base}/metrics`);
  expect(metrics.headers.get("content-type")).toContain("version=0.0.4");
  expect(await metrics.text()).toBe("junban_events_total 7\n");
  expect(metrics.headers.has("access-control-allow-origin")).toBe(false);
});

test("what is not well is 503, with the detail", async () => {
  const { base } = await serve({
    live: () => false,
    ready: async () => ({ ok: false, detail: { postgres: "away" } }),
  });
  expect((await fetch(`${base}/livez`)).status).toBe(503);
  const ready = await fetch(`${base}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([503, { ok: false, postgres: "away" }]);
});

test("a failing check is 503 and its error stays inside", async () => {
  const { base } = await serve({
    ready: async () => {
      throw new Error("canary");
    },
  });
  const ready = await fetch(`${base}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.text()).not.toContain("canary");
});

test("a check that hangs is answered in time, and the next one is asked anew", async () => {
  let asked = 0;
  const { base } = await serve({
    limitMs: 100,
    ready: async () => {
      asked += 1;
      return asked === 1 ? new Promise(() => {}) : { ok: true, detail: {} };
    },
  });
  expect((await fetch(`${base}/readyz`)).status).toBe(503);
  expect((await fetch(`${base}/readyz`)).status).toBe(200);
});

test("many probes at once are one question to the services", async () => {
  let asked = 0;
  let answer = (): void => {};
  const open = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { base } = await serve({
    ready: async () => {
      asked += 1;
      await open;
      return { ok: true, detail: {} };
    },
  });
  const probes = Array.from({ length: 20 }, async () => fetch(`${base}/readyz`));
  // All twenty have arrived once a later request of another kind was answered on a twenty-first connection.
  await fetch(`${base}/livez`);
  answer();
  const statuses = (await Promise.all(probes)).map((response) => response.status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(asked).toBeLessThan(20);
});

test("everything else is refused", async () => {
  const { base } = await serve();
  expect((await fetch(`${base}/`)).status).toBe(404);
  expect((await fetch(`${base}/constructor`)).status).toBe(404);
  expect((await fetch(`${base}/metrics`, { method: "POST", body: "x" })).status).toBe(405);
  expect((await fetch(`${base}/metrics`, { method: "HEAD" })).status).toBe(200);
});

test("listens on the loopback unless told otherwise, and a taken port is a typed error", async () => {
  const { port } = await serve();
  const socket = connect({ port, host: "127.0.0.1" });
  await once(socket, "connect");
  socket.destroy();
  // Whoever listened at every address would answer at this one as well.
  await expect(once(connect({ port, host: "127.0.0.2" }), "connect")).rejects.toMatchObject({
    syscall: "connect",
  });
  const failure = await serve({ port }).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(HttpListenError);
  expect(failure).toMatchObject({ code: "HTTP_LISTEN", port });
});

test("closing does not wait for connections that clients keep open", async () => {
  const server = await startHttpServer({
    port: 0,
    live: () => true,
    ready: async () => ({ ok: true, detail: {} }),
    metrics: async () => "",
  });
  await (await fetch(`http://127.0.0.1:${server.port}/livez`)).text();
  const idle = connect({ port: server.port, host: "127.0.0.1" });
  idle.on("error", () => undefined);
  await once(idle, "connect");
  await server.close();
  await server.close();
  await expect(fetch(`http://127.0.0.1:${server.port}/livez`)).rejects.toThrow("fetch failed");
});

test("the process's metrics come from a registry of its own and hold its build and the event loop's lag", async () => {
  const metrics = createProcessMetrics();
  const other = createProcessMetrics();
  onTestFinished(() => {
    metrics.close();
    other.close();
  });
  expect(metrics.registry).not.toBe(other.registry);
  const text = await metrics.text();
  expect(text).toMatch(/^junban_event_loop_lag_seconds \d/m);
  expect(text).toMatch(/^junban_build_info\{version="\d+\.\d+\.\d+"\} 1$/m);
  expect(text).toContain("process_resident_memory_bytes");
});

test.each([
  ["is", async () => ({ ok: true }), 1],
  ["is not", async () => ({ ok: false }), 0],
  ["cannot say whether it is", async () => Promise.reject(new Error("no answer")), 0],
])("a process that %s ready says so at each scrape", async (_how, ready, value) => {
  const metrics = createProcessMetrics({ process: "relay", ready });
  onTestFinished(() => metrics.close());
  expect(await metrics.text()).toContain(`\njunban_ready{process="relay"} ${value}\n`);
});
