import { interpret } from "@junban/orders";
import { expect, test } from "vitest";
import { prepareEvent } from "../../packages/event-queues/src/prepared-event.ts";
import { eventOf } from "./publisher-setting.ts";

test("a number that JSON would write as null is told to everybody behind the publisher, in lane and job alike", () => {
  const data = JSON.parse(
    '{ "captureId": "c-1", "authorizationId": null, "amount": 1e400, "currency": "JPY" }',
  ) as unknown;
  const { envelope, request } = prepareEvent(eventOf({ data }));
  expect(interpret(envelope)).toMatchObject({
    kind: "invalid",
    field: "data.amount",
    rule: "a finite number",
  });
  expect(JSON.parse(request.body)).toEqual(envelope);
});

test("a null that its producer wrote stays one", () => {
  const event = eventOf({ data: { captureId: "c-1", authorizationId: null, amount: 1, currency: "JPY" } });
  expect(prepareEvent(event).envelope).toEqual(event);
});
