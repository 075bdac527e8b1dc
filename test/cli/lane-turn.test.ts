import { createLanes, type Lanes } from "@junban/handoff-lock";
import { createOrderStore, type OrderStore } from "@junban/order-store";
import { readEnvelopeText, requestOf } from "@junban/orders";
import { expect, onTestFinished, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { line, openShell, placed, type Shell } from "./junban.ts";

const LCID = "A";

async function apply(store: OrderStore, lines: readonly string[]): Promise<void> {
  const requests = lines.map((text) => {
    const reading = readEnvelopeText(text);
    if (reading.kind === "unusable") throw new Error(reading.rule);
    return { ...requestOf(reading.envelope), publishedAtMs: Date.now() };
  });
  const [result] = await store.apply([{ lcid: LCID, requests }]);
  expect(result?.trouble).toBeNull();
}

/** An order that stands halted behind its placement, because the decision failed. */
async function haltedOrder(databaseUrl: string): Promise<void> {
  const failing = createOrderStore({
    databaseUrl,
    worker: "test",
    decide: () => {
      throw new Error("boom");
    },
  });
  await apply(failing, [placed(LCID, { id: "p" })]);
  await failing.close();
}

async function finishedOrder(databaseUrl: string): Promise<void> {
  const store = createOrderStore({ databaseUrl, worker: "test" });
  await apply(store, [
    placed(LCID),
    line(LCID, "cancel.requested", { cancelId: "x", scope: "order", reason: "test" }),
    line(LCID, "cancel.confirmed", { cancelId: "x" }),
  ]);
  await store.close();
}

function openLanes({ prefix }: Shell): Lanes {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix });
  onTestFinished(() => lanes.close());
  return lanes;
}

/** Counts how often somebody asked for the order's lane: the only step that names both of these keys while it is held. */
async function countAsking({ prefix }: Shell): Promise<() => number> {
  const monitor = await freshRedis().connect().monitor();
  onTestFinished(() => monitor.disconnect());
  const keys = ["tries", "done"].map((key) => `${prefix}:${key}:{${LCID}}`);
  let asked = 0;
  monitor.on("monitor", (_time: string, words: string[]) => {
    if (keys.every((key) => words.includes(key))) asked += 1;
  });
  return () => asked;
}

test.each([
  ["dlq replay", ["dlq", "replay", "/shop", "p"], haltedOrder],
  ["dlq drop", ["dlq", "drop", "/shop", "p", "--reason", "a test"], haltedOrder],
  ["purge", ["purge", "--older-than", "1ms", "--yes"], finishedOrder],
] as const)(
  "junban %s takes the order's lane: it waits for its holder and changes nothing before",
  async (_name, args, prepare) => {
    const shell = await openShell();
    await prepare(shell.databaseUrl);
    const store = createOrderStore({ databaseUrl: shell.databaseUrl, worker: "test" });
    onTestFinished(() => store.close());
    const before = await store.readHistory(LCID);
    const entry = await openLanes(shell).enter(LCID);
    expect(entry.kind).toBe("turn");
    const asked = await countAsking(shell);

    const running = shell.junban(args);
    await eventually(() => asked() >= 3, { withinMs: 30_000 });
    expect(await store.readHistory(LCID)).toEqual(before);

    if (entry.kind === "turn") await entry.turn.leave();
    expect(await running).toMatchObject({ code: 0 });
    expect(await store.readHistory(LCID)).not.toEqual(before);
  },
);
