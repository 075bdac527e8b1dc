import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  environmentOf,
  eventsOf,
  freshLcid,
  freshPlace,
  idsOf,
  launchWorker,
  publish,
  rowsOf,
  startWorker,
  type Place,
} from "../fleet/worker-lab.ts";
import { eventually } from "../support/index.ts";
import { startReceiver } from "./receiver.ts";

const LIMIT_MS = 120_000;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/** Publishes events that are in a trace. */
async function publishTraced(place: Place, lcid: string, count: number): Promise<void> {
  await publish(
    place,
    eventsOf(lcid, count).map((event) => ({ ...event, traceparent: TRACEPARENT })),
  );
}

describe("a receiver that", () => {
  test(
    "is away costs the fleet nothing but one line, and the end of the process comes within its grace",
    async () => {
      const place = await freshPlace();
      const lcid = freshLcid();
      // Nothing listens there.
      const worker = await startWorker(place, {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
        OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
      });
      await publishTraced(place, lcid, 20);
      await eventually(async () => expect(await rowsOf(place)).toHaveLength(20), { withinMs: 30_000 });
      await worker.tree.waitForLine("spans cannot be exported and are dropped", { withinMs: 30_000 });
      await publishTraced(place, freshLcid(), 20);
      await eventually(async () => expect(await rowsOf(place)).toHaveLength(40), { withinMs: 30_000 });
      expect(await idsOf(place, lcid)).toEqual(eventsOf(lcid, 20).map(({ id }) => id));
      expect((await worker.get("/readyz")).status).toBe(200);
      worker.tree.signal("SIGTERM");
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(worker.tree.stdout().match(/spans cannot be exported/g)).toHaveLength(1);
    },
    LIMIT_MS,
  );

  test(
    "takes requests and never answers does not keep a process from working, nor from ending within its grace",
    async () => {
      const receiver = await startReceiver();
      receiver.answer("hang");
      const place = await freshPlace();
      const worker = await startWorker(place, {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: "60000",
        JUNBAN_SHUTDOWN_GRACE_MS: "8000",
      });
      await publishTraced(place, freshLcid(), 40);
      await eventually(async () => expect(await rowsOf(place)).toHaveLength(40), { withinMs: 30_000 });
      worker.tree.signal("SIGTERM");
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(worker.tree.stdout()).not.toContain("the grace is over");
    },
    LIMIT_MS,
  );

  test(
    "comes back gets spans again, and that is said once",
    async () => {
      const receiver = await startReceiver();
      receiver.answer("refuse");
      const place = await freshPlace();
      const worker = await startWorker(place, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
      await publishTraced(place, freshLcid(), 3);
      await worker.tree.waitForLine("spans cannot be exported and are dropped", { withinMs: 30_000 });
      receiver.answer("well");
      await publishTraced(place, freshLcid(), 3);
      await worker.tree.waitForLine("spans are exported again", { withinMs: 30_000 });
      expect(receiver.spans.map(({ name }) => name)).toContain("apply {payment}");
    },
    LIMIT_MS,
  );
});

describe("traces that nobody asked for", () => {
  test(
    "load no SDK and no exporter of OpenTelemetry's into a worker that works",
    async () => {
      const place = await freshPlace();
      const tree = await startProcess({
        command: process.execPath,
        args: [
          "--import",
          "tsx",
          "--conditions",
          "@junban/source",
          "--import",
          fileURLToPath(new URL("tell-modules.process.ts", import.meta.url)),
          fileURLToPath(new URL("../../apps/worker/src/main.ts", import.meta.url)),
        ],
        env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...environmentOf(place) },
        cwd: ROOT,
      });
      onTestFinished(async () => {
        await tree.stop({ signal: "SIGKILL" });
      });
      await tree.waitForLine("the worker serves", { withinMs: 60_000 });
      await publishTraced(place, freshLcid(), 3);
      await eventually(async () => expect(await rowsOf(place)).toHaveLength(3), { withinMs: 30_000 });
      tree.signal("SIGTERM");
      expect(await tree.exited).toEqual({ code: 0, signal: null });
      const told = /^loaded (.*)$/m.exec(tree.stderr())?.[1] ?? "[]";
      const loaded = JSON.parse(told) as string[];
      expect(loaded.some((file) => file.includes("/node_modules/pg/"))).toBe(true);
      // Its API, which does nothing by itself, comes with the library of the metrics.
      expect(loaded.filter((file) => /@opentelemetry\/(?!api\/)/.test(file))).toEqual([]);
    },
    LIMIT_MS,
  );

  test("and a bad value ends the process with exit code 2", async () => {
    const place = await freshPlace();
    const worker = await launchWorker({ ...environmentOf(place), OTEL_TRACES_EXPORTER: "jaeger" });
    expect(await worker.exited).toEqual({ code: 2, signal: null });
    expect(worker.stderr()).toContain("OTEL_TRACES_EXPORTER");
    expect(worker.stderr()).toContain("otlp, none");
  });
});
