import { consumeOrderUpdates, type OrderUpdatesConsumer } from "@junban/order-updates";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { openShell, type Shell } from "./junban.ts";

async function subscribe({ redisUrl, prefix }: Shell, name: string): Promise<OrderUpdatesConsumer> {
  const consumer = await consumeOrderUpdates({ redis: redisUrl, prefix, name }, async () => undefined);
  onTestFinished(() => consumer.close({ deadlineMs: 2_000 }));
  return consumer;
}

test("updates lists who is subscribed and who serves it; forget ends what nobody serves", async () => {
  const shell = await openShell();
  expect((await shell.junban(["updates"])).err).toContain("no name is subscribed");
  const billing = await subscribe(shell, "billing");
  await eventually(async () => /billing +0 +0 +1/u.test((await shell.junban(["updates"])).out));
  const served = await shell.junban(["updates", "forget", "billing", "--yes"]);
  expect(served.code).toBe(1);
  expect(served.err).toContain("billing is served by 1 process; close them first");

  await billing.close({ deadlineMs: 2_000 });
  await eventually(async () =>
    (await shell.junban(["updates"])).err.includes("nobody serves billing: what waits for it piles up"),
  );
  expect((await shell.junban(["updates", "forget", "billing"])).code).toBe(2);
  expect((await shell.junban(["updates", "--json"])).json()).toMatchObject({ names: [{ name: "billing" }] });
  const forgotten = await shell.junban(["updates", "forget", "billing", "--yes"]);
  expect(forgotten).toMatchObject({ code: 0, out: "billing is forgotten; 0 updates deleted\n" });
  expect((await shell.junban(["updates", "--json"])).json()).toMatchObject({ names: [] });
  const unknown = await shell.junban(["updates", "forget", "billing", "--yes"]);
  expect(unknown).toMatchObject({ code: 1, err: "billing is not subscribed\n" });
});
