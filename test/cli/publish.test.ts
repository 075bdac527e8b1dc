import { createLanes } from "@junban/handoff-lock";
import { describe, expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { authorized, line, openShell, placed, type Shell } from "./junban.ts";

interface PublishJson {
  readonly published: number;
  readonly refused: number;
  readonly doomed: number;
  readonly refusedLines: readonly { readonly line: number; readonly reason: string }[];
}

async function standing(shell: Shell, lcid: string): Promise<readonly string[]> {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix: shell.prefix });
  const entry = await lanes.enter(lcid);
  if (entry.kind !== "turn") throw new Error("the lane is held");
  const ids = entry.turn.requests.map(({ body }) => (JSON.parse(body) as { id: string }).id);
  await entry.turn.leave();
  await lanes.close();
  return ids;
}

describe("junban publish", () => {
  test("keeps the file's order per lcid", async () => {
    const shell = await openShell();
    const lines = [
      placed("A"),
      placed("B"),
      ...Array.from({ length: 20 }, (_, at) => authorized(at % 2 === 0 ? "A" : "B", `a-${at}`)),
    ];
    const run = await shell.junban(["publish", "-", "--json"], { input: lines.join("\n") });
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ published: 22, refused: 0 });
    for (const lcid of ["A", "B"]) {
      const ids = lines
        .map((text) => JSON.parse(text) as { id: string; lcid: string })
        .filter((event) => event.lcid === lcid);
      expect(await standing(shell, lcid)).toEqual(ids.map(({ id }) => id));
    }
  });

  test("reports a refused line as `line N: REASON`, takes the rest, and ends with 1", async () => {
    const shell = await openShell();
    const lines = [
      placed("A"),
      "not JSON",
      "[]",
      line("A", "payment.captured", {}, { id: 7 }),
      line("a b", "payment.captured", {}),
      line("A", "payment.captured", {}, { source: "" }),
      `{"specversion":"1.0","id":"x","source":"/s","type":"line.added","lcid":"A","data":"${"x".repeat(70_000)}"}`,
      authorized("A", "a-1"),
    ];
    const run = await shell.junban(["publish", "-"], { input: lines.join("\r\n") });
    expect(run.code).toBe(1);
    for (const [number, word] of [
      [2, "JSON"],
      [3, "object"],
      [4, "id"],
      [5, "lcid"],
      [6, "source"],
      [7, "65536"],
    ] as const) {
      expect(run.out).toMatch(new RegExp(`^line ${number}: .*${word}`, "mu"));
    }
    expect(run.out).toContain("2 published, 6 refused");
    expect(await standing(shell, "A")).toHaveLength(2);
  });

  test("accepts data that breaks a rule, since it is rejected in its place, and says so", async () => {
    const shell = await openShell();
    const bad = line("A", "payment.authorized", { authorizationId: "a", amount: 10.5, currency: "JPY" });
    const run = await shell.junban(["publish", "-"], { input: [placed("A"), bad].join("\n") });
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/^line 2: accepted, but will be rejected: INVALID_PAYLOAD data\.amount/mu);
  });

  test("a number beyond JSON's in any field is rejected in its place, not turned into null", async () => {
    const shell = await openShell();
    const bad = authorized("A", "a-1").replace('"amount":1000', '"amount":1000,"extra":-1e400');
    const run = await shell.junban(["publish", "-"], { input: bad });
    expect(run.out).toMatch(
      /^line 1: accepted, but will be rejected: INVALID_PAYLOAD data\.extra: expected a finite number/mu,
    );
    const lanes = createLanes({ redis: freshRedis().connect(), prefix: shell.prefix });
    const entry = await lanes.enter("A");
    expect(entry).toMatchObject({
      kind: "turn",
      turn: { requests: [{ body: expect.stringContaining("invalidpayload") as string }] },
    });
    await lanes.close();
  });

  test("publishing the same file again puts nothing twice into a lane", async () => {
    const shell = await openShell();
    const input = [placed("A"), authorized("A", "a-1")].join("\n");
    await shell.junban(["publish", "-"], { input });
    expect((await shell.junban(["publish", "-"], { input })).code).toBe(0);
    expect(await standing(shell, "A")).toHaveLength(2);
  });

  test("waits for a full lane, says so, gives up in time, and lets nothing of that order overtake", async () => {
    const shell = await openShell();
    const lines = [
      placed("A"),
      authorized("A", "a-1"),
      authorized("A", "a-2"),
      authorized("A", "a-3"),
      placed("B"),
    ];
    const run = await shell.junban(["publish", "-", "--patience", "1s", "--json"], {
      input: lines.join("\n"),
      env: { JUNBAN_LANE_CAP: "2" },
    });
    expect(run.code).toBe(1);
    expect(run.err).toMatch(/waiting: the lane of A is full/u);
    const report = run.json() as PublishJson;
    expect(report).toMatchObject({ published: 3, refused: 2 });
    expect(report.refusedLines.map((refused) => refused.line)).toEqual([3, 4]);
    expect(await standing(shell, "A")).toHaveLength(2);
  });

  test("a file that is not there, or a folder, ends with 2", async () => {
    const shell = await openShell();
    expect((await shell.junban(["publish", "/nowhere/events.ndjson"])).code).toBe(2);
    expect((await shell.junban(["publish", "/"])).code).toBe(2);
  });

  test("Redis away ends with 3 after the patience, and says up to which line all is accounted for", async () => {
    const shell = await openShell();
    const run = await shell.junban(["publish", "-", "--patience", "1s"], {
      input: placed("A"),
      env: { REDIS_URL: "redis://127.0.0.1:1" },
    });
    expect(run.code).toBe(3);
    expect(run.err).toContain("all up to line 0 is accounted for");
  });
});
