import { EventNotFoundError } from "@junban/order-store";
import type { ActionEnd, NewAction } from "@junban/order-store";
import { expect, test } from "vitest";
import { Actions } from "../../apps/console/src/actions.ts";
import { Refusal } from "../../apps/console/src/refusal.ts";

const REPLAY: NewAction = { who: "olga", act: "replay", target: "/shop e-1" };

function desk({ canNote = true } = {}) {
  const noted: (NewAction | ActionEnd)[] = [];
  const logged: unknown[] = [];
  const log = (fields: unknown): void => {
    logged.push(fields);
  };
  const actions = new Actions({
    store: {
      beginAction: async (action) => {
        if (!canNote) throw new Error("no Postgres");
        return noted.push(action);
      },
      endAction: async ({ id: _id, ...end }) => {
        noted.push(end);
      },
    },
    logger: { info: log, error: log },
  });
  return { actions, noted, logged };
}

test("what cannot be noted is not done", async () => {
  const { actions } = desk({ canNote: false });
  let isDone = false;
  const acting = actions.carryOut(REPLAY, async () => {
    isDone = true;
    return "applied";
  });
  await expect(acting).rejects.toThrow(Refusal);
  expect(isDone).toBe(false);
});

test("what is done is noted before and after, with who did it, what for and what came of it, and logged", async () => {
  const { actions, noted, logged } = desk();
  await actions.carryOut({ ...REPLAY, reason: "mended" }, async () => "applied, version 4");
  expect(noted).toEqual([
    { ...REPLAY, reason: "mended" },
    { result: "done", detail: "applied, version 4" },
  ]);
  expect(logged).toEqual([
    { id: 1, ...REPLAY, reason: "mended", result: "done", says: "applied, version 4" },
  ]);
});

test("what was refused and what went wrong are told apart", async () => {
  const { actions, noted } = desk();
  await actions.carryOut(REPLAY, async () => {
    throw new EventNotFoundError({ source: "/shop", id: "e-1" });
  });
  await actions.carryOut(REPLAY, async () => {
    throw new TypeError("a fault");
  });
  expect(noted.filter((each) => "result" in each).map(({ result }) => result)).toEqual(["refused", "failed"]);
});
