import { createLanes, type Lanes } from "@junban/handoff-lock";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { authorized, openShell, placed, type Shell } from "./junban.ts";

let shell: Shell;

beforeEach(async () => {
  shell = await openShell();
});

function lanesOf({ prefix }: Shell): Lanes {
  const lanes = createLanes({ redis: freshRedis().connect(), prefix });
  onTestFinished(() => lanes.close());
  return lanes;
}

async function publish(...lines: readonly string[]): Promise<void> {
  expect((await shell.junban(["publish", "-"], { input: lines.join("\n") })).code).toBe(0);
}

describe("junban lanes", () => {
  test("lists busy lanes, the deepest first, with who holds them", async () => {
    await publish(placed("A"), placed("B"), authorized("B", "a-1"));
    const entry = await lanesOf(shell).enter("A");
    const holder = entry.kind === "turn" ? entry.turn.token : "";
    const { out, code } = await shell.junban(["lanes"]);
    expect(code).toBe(0);
    const [, first = "", second = ""] = out.split("\n");
    expect(first).toMatch(/^B +2 +0 +– +– +0$/u);
    expect(second).toContain(`A      1         0             ${holder}`);
    const json = (await shell.junban(["lanes", "--limit", "1", "--json"])).json();
    expect(json).toMatchObject({ busy: 2, requests: 3, lanes: [{ lcid: "B", depth: 2, turnsLost: 0 }] });
    expect((await shell.junban(["lanes", "--limit", "1"])).err).toContain(
      "only the 1 deepest of 2 busy lanes",
    );
  });

  test("says that none is busy, and refuses a limit nobody can mean", async () => {
    expect((await shell.junban(["lanes"])).out).toBe("no lane is busy\n");
    expect((await shell.junban(["lanes", "--limit", "none"])).code).toBe(2);
  });
});

describe("junban lane", () => {
  test("shows one lane in full: its line by place, source and id", async () => {
    await publish(placed("A", { id: "p" }), authorized("A", "a-1"), authorized("A", "a-2"));
    const whole = await shell.junban(["lane", "A", "--limit", "2"]);
    expect(whole.code).toBe(0);
    expect(whole.out).toMatch(/requests +3\n/u);
    expect(whole.out).toMatch(/holder +nobody\n/u);
    expect(whole.out).toMatch(/^1 +\S+ \S+ +order\.placed +\/shop +p +– +\S{22}$/mu);
    expect(whole.err).toContain("places 1 to 2 of 3");
    expect((await shell.junban(["lane", "A", "--skip", "2", "--json"])).json()).toMatchObject({
      depth: 3,
      holder: null,
      turnsLost: 0,
      line: [{ place: 3, event: { source: "/shop", type: "payment.authorized" } }],
    });
  });

  test("shows outcomes nobody came for", async () => {
    await publish(placed("A"));
    const entry = await lanesOf(shell).enter("A");
    if (entry.kind !== "turn") throw new Error("somebody else has it");
    const key = entry.turn.requests[0]?.key ?? "";
    await entry.turn.handOff([{ key, value: "applied" }]);
    const { out } = await shell.junban(["lane", "A"]);
    expect(out).toMatch(/requests +0\n/u);
    expect(out).toMatch(new RegExp(`^applied +\\S+ +${key}$`, "mu"));
  });

  test("a name that no lane can have ends with 2 and says which can", async () => {
    const run = await shell.junban(["lane", "A B"]);
    expect(run.code).toBe(2);
    expect(run.err).toContain("a lane name is");
  });
});

describe("junban lane --free", () => {
  test("is refused where nobody can be asked, and says what it would do", async () => {
    await publish(placed("A"));
    const entry = await lanesOf(shell).enter("A");
    const run = await shell.junban(["lane", "A", "--free"]);
    expect(run.code).toBe(2);
    expect(run.err).toMatch(/drops the lock of .* add --yes/su);
    expect(entry.kind === "turn" && entry.turn.signal.aborted).toBe(false);
    expect((await shell.junban(["lane", "A", "--json"])).json()).toMatchObject({
      holder: entry.kind === "turn" ? entry.turn.token : "",
    });
  });

  test("drops the lock and nothing of the line", async () => {
    await publish(placed("A"));
    const lanes = lanesOf(shell);
    await lanes.enter("A");
    const run = await shell.junban(["lane", "A", "--free", "--yes", "--json"]);
    expect(run.code).toBe(0);
    expect(run.json()).toMatchObject({ lcid: "A", freed: true });
    expect(await lanes.inspect("A")).toMatchObject({ holder: null, depth: 1 });
  });

  test("changes nothing when nobody holds the lane", async () => {
    await publish(placed("A"));
    const run = await shell.junban(["lane", "A", "--free", "--yes"]);
    expect(run.code).toBe(0);
    expect(run.out).toContain("nobody holds the lane of A");
  });
});
