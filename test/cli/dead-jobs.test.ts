import { expect, test } from "vitest";
import { freshRedis } from "../support/index.ts";
import { openShell, type Shell } from "./junban.ts";

/** A job that failed for good, as BullMQ leaves it. */
async function failedJob({ prefix }: Shell, id: string): Promise<void> {
  const redis = freshRedis().connect();
  const place = `${prefix}:{payment}`;
  await redis.hset(`${place}:${id}`, { name: "x", data: "{}", opts: "{}", failedReason: "for a test" });
  await redis.zadd(`${place}:failed`, Date.now(), id);
}

async function waiting(shell: Shell): Promise<unknown> {
  const { backlog } = (await shell.junban(["status", "--json"])).json() as {
    backlog: { payment: { waiting: number; failed: number } };
  };
  return { waiting: backlog.payment.waiting, failed: backlog.payment.failed };
}

test("dlq replay puts a dead job back into its queue, without asking, and once", async () => {
  const shell = await openShell();
  await failedJob(shell, "7");
  const run = await shell.junban(["dlq", "replay", "job:payment", "7"]);
  expect(run).toMatchObject({ code: 0, out: "job:payment 7: put back into its queue\n" });
  expect(await waiting(shell)).toEqual({ waiting: 1, failed: 0 });
  const again = await shell.junban(["dlq", "replay", "job:payment", "7"]);
  expect(again.code).toBe(1);
  expect(again.out).toContain("there is no dead job of that id");
});

test("dlq drop deletes a dead job only when that is meant", async () => {
  const shell = await openShell();
  await failedJob(shell, "7");
  const drop = ["dlq", "drop", "job:payment", "7", "--reason", "a producer's mistake"];
  const refused = await shell.junban(drop);
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("deletes the job 7 of payment for good");
  expect(await waiting(shell)).toEqual({ waiting: 0, failed: 1 });
  expect(await shell.junban([...drop, "--yes"])).toMatchObject({ code: 0 });
  expect(await waiting(shell)).toEqual({ waiting: 0, failed: 0 });
});
