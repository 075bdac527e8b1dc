import { QueueUnavailableError } from "@junban/event-queues";
import type { PublishResult } from "@junban/event-queues";
import { expect, test } from "vitest";
import { Intake, statusOf } from "../../apps/gateway/src/intake.ts";
import { eventOf } from "./gateway-lab.ts";

const away = new QueueUnavailableError({
  code: "REDIS_REFUSED",
  detail: "Redis answered with an error (NOAUTH at redis://canary@10.0.0.1:6379)",
  cause: new Error("canary"),
});

function intakeOf(results: readonly PublishResult[]): Intake {
  return new Intake({ publisher: { publishAll: async () => results } });
}

test("what the publisher knows of Redis is not told to a sender", async () => {
  const [result] = await intakeOf([{ kind: "refused", error: away }]).publish([eventOf()]);
  expect(result).toMatchObject({ status: 503, code: "REDIS_REFUSED" });
  expect(JSON.stringify(result)).not.toMatch(/canary|10\.0\.0\.1|NOAUTH/);
});

test("an event that was never acknowledged is no repeat, and contradicts nothing", async () => {
  const results: PublishResult[] = [{ kind: "refused", error: away }];
  const intake = intakeOf(results);
  const event = eventOf();
  await intake.publish([event]);
  results[0] = { kind: "published", lcid: "A-1", key: "k", depth: 1, priority: 0 };
  const other = { ...event, data: { ...event.data, amount: 7 } };
  expect(await intake.publish([other])).toMatchObject([{ status: 202, outcome: "queued" }]);
  expect(await intake.publish([other])).toMatchObject([{ status: 202, outcome: "repeat" }]);
});

test("the status of an answer is the highest of its events, and 202 of none", () => {
  const of = (...statuses: readonly number[]): number =>
    statusOf(statuses.map((status) => ({ status }) as Parameters<typeof statusOf>[0][number]));
  expect([of(), of(202), of(202, 400), of(503, 409, 429), of(413, 202, 400)]).toEqual([
    202, 202, 400, 503, 413,
  ]);
});
