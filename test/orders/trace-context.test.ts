import { requestOf, sameBody, traceContextOf } from "@junban/orders";
import type { EventEnvelope } from "@junban/orders";
import { describe, expect, test } from "vitest";
import { envelope } from "./events.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const OTHER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function captured(attributes: Record<string, unknown> = {}): EventEnvelope {
  const data = { captureId: "c-1", authorizationId: "a-1", amount: 1200, currency: "JPY" };
  return envelope("payment.captured", data, attributes);
}

describe("the trace of an event", () => {
  test("is what its traceparent and tracestate say", () => {
    expect(traceContextOf(captured({ traceparent: TRACEPARENT }))).toEqual({ traceparent: TRACEPARENT });
    const tracestate = "vendor=opaque,rojo=00f067aa0ba902b7";
    expect(traceContextOf(captured({ traceparent: TRACEPARENT, tracestate }))).toEqual({
      traceparent: TRACEPARENT,
      tracestate,
    });
  });

  test("is none without a traceparent, also for an event that could not be read", () => {
    expect(traceContextOf(captured())).toBeNull();
    expect(traceContextOf(captured({ tracestate: "vendor=opaque" }))).toBeNull();
    expect(traceContextOf(null)).toBeNull();
  });

  test.each([
    "",
    "hello",
    TRACEPARENT.toUpperCase(),
    ` ${TRACEPARENT}`,
    `${TRACEPARENT}-more`,
    `ff${TRACEPARENT.slice(2)}`,
    `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
    `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`,
    42,
    null,
    { traceparent: TRACEPARENT },
  ])("is none when its traceparent is %j", (traceparent) => {
    expect(traceContextOf(captured({ traceparent }))).toBeNull();
  });

  test.each(["", "x".repeat(513), "line\nbreak", "déjà=vu", 42])(
    "goes without its tracestate when that is %j",
    (tracestate) => {
      expect(traceContextOf(captured({ traceparent: TRACEPARENT, tracestate }))).toEqual({
        traceparent: TRACEPARENT,
      });
    },
  );
});

describe("the same event in another trace", () => {
  const first = captured({ traceparent: TRACEPARENT });
  const again = captured({ traceparent: OTHER, tracestate: "vendor=opaque" });

  test("has the same request key, and so has the event in no trace", () => {
    expect(requestOf(again).key).toBe(requestOf(first).key);
    expect(requestOf(captured()).key).toBe(requestOf(first).key);
  });

  test("says the same", () => {
    expect(sameBody(first, again)).toBe(true);
  });
});
