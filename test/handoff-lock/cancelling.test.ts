import { afterAll, describe, expect, test } from "vitest";
import { eventually, freshRedis } from "../support/index.ts";
import { Lab, NEVER, numbered, request, serve, turnOf } from "./lab.ts";

const fresh = freshRedis();
const lab = new Lab({ prefix: fresh.prefix, connect: () => fresh.connect() });
/** Waits for words only: whatever these processes find out, they were told. */
const LISTENING = { pollMs: 3_600_000, waitMs: 3_600_000, wordMs: 3_600_000 };
const [holder, waiter] = [lab.process(), lab.process(LISTENING)];
afterAll(() => lab.close());

const seated = async (lcid: string, seats: number): Promise<unknown> =>
  eventually(async () => (await holder.inspect(lcid)).seats === seats);

describe("cancelling", () => {
  test("ends the wait at once and gives up the seat", async () => {
    const lcid = lab.lane();
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const stopping = new AbortController();
    const standing = waiter.stand(lcid, request("b"), { signal: stopping.signal });
    await seated(lcid, 1);
    stopping.abort();
    expect(await standing).toEqual({ kind: "cancelled" });
    expect(await holder.inspect(lcid)).toMatchObject({ seats: 0, depth: 2 });
    await serve(turn);
  });

  test("a signal that has fired already takes no seat", async () => {
    const lcid = lab.lane();
    expect(await waiter.stand(lcid, request("a"), { signal: AbortSignal.abort() })).toEqual({
      kind: "cancelled",
    });
    expect((await holder.inspect(lcid)).depth).toBe(0);
  });

  test("a turn that arrives while the signal fires is left again", async () => {
    const lcid = lab.lane();
    const stopping = new AbortController();
    const standing = waiter.stand(lcid, request("a"), { signal: stopping.signal });
    stopping.abort();
    expect(await standing).toEqual({ kind: "cancelled" });
    expect((await holder.inspect(lcid)).holder).toBeNull();
  });

  test("hundreds of waits share one signal without a warning", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const lcid = lab.lane();
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const stopping = new AbortController();
    const all = numbered(300).map((one) => waiter.stand(lcid, one, { signal: stopping.signal }));
    await seated(lcid, 300);
    stopping.abort();
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(["cancelled"]));
    expect((await holder.inspect(lcid)).seats).toBe(0);
    expect(warnings).toEqual([]);
    process.off("warning", note);
    await turn.leave();
  });

  test("closing ends every wait as cancelled", async () => {
    const closing = lab.process(LISTENING);
    const lcid = lab.lane();
    const turn = turnOf(await holder.enter(lcid, request("a")));
    const all = numbered(20).map((one) => closing.stand(lcid, one, { signal: NEVER }));
    await seated(lcid, 20);
    await closing.close();
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(["cancelled"]));
    expect((await holder.inspect(lcid)).seats).toBe(0);
    expect(await closing.stand(lcid, request("b"), { signal: NEVER })).toEqual({ kind: "cancelled" });
    await turn.leave();
  });
});
