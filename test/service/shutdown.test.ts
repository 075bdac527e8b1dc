import { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import { type ShutdownHost, type ShutdownStep, createShutdown } from "@junban/service";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";

class FakeHost extends EventEmitter implements ShutdownHost {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

interface LogEntry {
  level: string;
  fields: Record<string, unknown>;
}

function begin(options: { steps?: readonly ShutdownStep[]; graceMs?: number } = {}) {
  const host = new FakeHost();
  const entries: LogEntry[] = [];
  const log = (level: string) => (fields: unknown) => {
    entries.push({ level, fields: fields as Record<string, unknown> });
  };
  const logger = { info: log("info"), warn: log("warn"), error: log("error"), fatal: log("fatal") };
  const shutdown = createShutdown({ graceMs: 10_000, logger, host, ...options });
  onTestFinished(() => shutdown.dispose());
  return { host, entries, shutdown };
}

test.each(["SIGTERM", "SIGINT"])("%s runs the steps in their order and exits with 0", async (signal) => {
  const ran: string[] = [];
  const step = (name: string): ShutdownStep => ({
    name,
    run: async () => {
      await Promise.resolve();
      ran.push(name);
    },
  });
  const { host, shutdown } = begin({ steps: [step("consumers"), step("turns")] });
  shutdown.add(step("pool"));
  expect(shutdown.signal.aborted).toBe(false);
  host.emit(signal);
  expect(shutdown.signal.aborted).toBe(true);
  await eventually(() => host.exits.length === 1);
  expect(ran).toEqual(["consumers", "turns", "pool"]);
  expect(host.exits).toEqual([0]);
  expect(host.listenerCount(signal)).toBe(0);
});

test("a second signal exits at once, not with 0", () => {
  const { host } = begin({ steps: [{ name: "endless", run: async () => new Promise(() => {}) }] });
  host.emit("SIGTERM");
  host.emit("SIGINT");
  expect(host.exits[0]).toBe(1);
});

test("the same signal again at once is an echo: Ctrl-C comes through npm twice, and still ends gracefully", async () => {
  const { host } = begin({ steps: [{ name: "pool", run: async () => Promise.resolve() }] });
  host.emit("SIGINT");
  host.emit("SIGINT");
  await eventually(() => host.exits.length > 0);
  expect(host.exits).toEqual([0]);
});

test("a step that hangs is left when the grace is over, is named, and makes the exit 1", async () => {
  let heard = false;
  const { host, entries } = begin({
    graceMs: 50,
    steps: [
      {
        name: "queue",
        run: async (signal) => {
          signal.addEventListener("abort", () => (heard = true));
          return new Promise(() => {});
        },
      },
      { name: "pool", run: () => {} },
    ],
  });
  host.emit("SIGTERM");
  await eventually(() => host.exits.length === 1);
  expect(host.exits).toEqual([1]);
  expect(heard).toBe(true);
  expect(entries.find(({ level }) => level === "error")?.fields).toMatchObject({ undone: ["queue", "pool"] });
});

test("a step that fails does not keep the others from running, and makes the exit 1", async () => {
  let closed = false;
  const { host } = begin({
    steps: [
      {
        name: "queue",
        run: () => {
          throw new Error("Redis is away");
        },
      },
      { name: "pool", run: () => void (closed = true) },
    ],
  });
  host.emit("SIGTERM");
  await eventually(() => host.exits.length === 1);
  expect([closed, host.exits]).toEqual([true, [1]]);
});

test("an end that begins within keeps its exit code, and a signal during it changes nothing", async () => {
  let runs = 0;
  const { host, shutdown } = begin({ steps: [{ name: "once", run: () => void (runs += 1) }] });
  await Promise.all([shutdown.begin("Postgres stayed away", 3), shutdown.begin("again")]);
  expect([runs, host.exits]).toEqual([1, [3]]);
});

test("an error that nobody caught is logged and ends the process with 1", () => {
  const { host, entries } = begin();
  const error = new Error("bug");
  host.emit("uncaughtException", error);
  expect(host.exits).toEqual([1]);
  expect(entries.at(-1)).toEqual({ level: "fatal", fields: { err: error } });
});

test.each([
  { mode: "idle", signals: ["SIGTERM"], code: 0 },
  { mode: "idle", signals: ["SIGINT"], code: 0 },
  { mode: "hanging", signals: ["SIGTERM"], code: 1 },
  { mode: "hanging-long", signals: ["SIGTERM", "SIGINT"], code: 1 },
  { mode: "rejecting", signals: [], code: 1 },
])("a real process that is $mode ends with $code after $signals", async ({ mode, signals, code }) => {
  const child = await startProcess({
    command: process.execPath,
    args: [
      "--import",
      "tsx",
      "--conditions",
      "@junban/source",
      fileURLToPath(new URL("shutdown.fixture.ts", import.meta.url)),
      mode,
    ],
  });
  onTestFinished(async () => {
    await child.stop({ signal: "SIGKILL", graceMs: 0 });
  });
  await child.waitForLine("started");
  for (const [index, signal] of (signals as NodeJS.Signals[]).entries()) {
    // Two signals sent in one go may be delivered as one.
    if (index > 0) await child.waitForLine("shutting down");
    child.signal(signal);
  }
  expect(await child.exited).toEqual({ code, signal: null });
  expect(child.stdout()).not.toContain("canary");
});
