import { startProxy } from "@junban/sandbox";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import type { Answer } from "./exchange.ts";
import { freshPlace, openGateway, standingIn, startGateway } from "./gateway-lab.ts";
import type { Gateway, Place } from "./gateway-lab.ts";
import { intent, refund, SECOND_SECRET, SECRET, signatureOf, stripeEvent } from "./stripe-lab.ts";
import type { Fields, Signing } from "./stripe-lab.ts";

const WITH_STRIPE = { JUNBAN_GATEWAY_STRIPE_SECRETS: `${SECRET}, ${SECOND_SECRET}` };

let place: Place;
let gateway: Gateway;

beforeAll(async () => {
  place = freshPlace();
  gateway = await openGateway(place, WITH_STRIPE);
});

afterAll(async () => {
  await gateway.tree.stop({ signal: "SIGKILL" });
});

async function deliver(to: Gateway, event: Fields, signing: Signing = {}): Promise<Answer> {
  const body = JSON.stringify(event);
  return to.ask({
    path: "/webhooks/stripe",
    headers: {
      "content-type": "application/json; charset=utf-8",
      authorization: undefined,
      "stripe-signature": signatureOf(body, signing),
    },
    body,
  });
}

const metadata = (lcid: string): Fields => ({ metadata: { lcid } });

test("a delivery is published in its order's line before it is answered, and a second time changes nothing", async () => {
  const object = intent({ ...metadata("W-1"), status: "succeeded", amount_received: 1000 });
  const event = stripeEvent("payment_intent.succeeded", object);
  for (const secret of [SECRET, SECOND_SECRET]) {
    const answer = await deliver(gateway, event, { secret });
    expect(answer).toMatchObject({ status: 200, document: { outcome: "published" } });
    const standing = await standingIn(place, "W-1");
    expect(standing.map(({ id, type }) => [id, type])).toEqual([
      ["evt_1", "payment.captured"],
      ["evt_1:rest", "payment.voided"],
    ]);
  }
});

test("what concerns no order is acknowledged and counted", async () => {
  const before = await gateway.health("/metrics");
  const count = (text: string, outcome: string): number =>
    Number(new RegExp(`junban_gateway_stripe_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
  for (const event of [
    stripeEvent("customer.created", intent()),
    stripeEvent("refund.created", refund({ metadata: {} })),
  ]) {
    expect(await deliver(gateway, event)).toMatchObject({ status: 200, document: { outcome: "ignored" } });
  }
  const after = await gateway.health("/metrics");
  for (const outcome of ["unmapped", "no-order"]) {
    expect(count(after.text, outcome) - count(before.text, outcome)).toBe(1);
  }
});

test("a delivery without a good signature publishes nothing", async () => {
  const event = stripeEvent("refund.created", refund(metadata("W-2")));
  const answers = [
    await deliver(gateway, event, { secret: "whsec_of_somebody_else" }),
    await deliver(gateway, event, { atMs: Date.now() - 400_000 }),
    await gateway.ask({ path: "/webhooks/stripe", body: JSON.stringify(event) }),
  ];
  for (const answer of answers) {
    expect(answer.status).toBe(400);
    expect(answer.document.error).toMatchObject({ code: "BAD_SIGNATURE", field: "stripe-signature" });
  }
  expect(await standingIn(place, "W-2")).toEqual([]);
});

test("a signed body that is no event is refused", async () => {
  const answer = await deliver(gateway, { hello: "world" });
  expect(answer.document.error).toMatchObject({ code: "MALFORMED", field: "body" });
});

test("a body that is too large is refused", async () => {
  const event = stripeEvent("refund.created", { ...refund(), note: "x".repeat(1_100_000) });
  expect((await deliver(gateway, event)).status).toBe(413);
});

test("while Redis is away Stripe is told to come again", async () => {
  const corner = freshPlace();
  const proxy = await startProxy({ url: corner.redisUrl });
  onTestFinished(async () => proxy.close());
  const cutOff = await startGateway({ ...corner, redisUrl: proxy.url }, WITH_STRIPE);
  const event = stripeEvent("refund.created", refund(metadata("W-3")));
  proxy.cut();
  const answer = await deliver(cutOff, event);
  expect(answer.status).toBe(503);
  expect(answer.headers["retry-after"]).toBe("5");
  proxy.heal();
  await eventually(async () => expect((await deliver(cutOff, event)).status).toBe(200));
  expect(await standingIn(corner, "W-3")).toHaveLength(1);
});

test("a full line and a contradiction are told like those of any other event", async () => {
  const narrow = await startGateway(freshPlace(), { ...WITH_STRIPE, JUNBAN_LANE_CAP: "1" });
  const event = (id: string, amount: number): Fields =>
    stripeEvent("refund.created", refund({ ...metadata("W-4"), id, amount }), { id: `evt_${id}` });
  expect((await deliver(narrow, event("re_1", 5))).status).toBe(200);
  expect((await deliver(narrow, event("re_1", 6))).status).toBe(409);
  expect((await deliver(narrow, event("re_2", 5))).status).toBe(429);
});
