import { beforeAll, afterAll, describe, expect, test } from "vitest";
import {
  eventOf,
  eventsOf,
  freshKey,
  freshPlace,
  idsOf,
  openGateway,
  standingIn,
  startGateway,
} from "./gateway-lab.ts";
import type { Gateway, Place } from "./gateway-lab.ts";

let place: Place;
let gateway: Gateway;

beforeAll(async () => {
  place = freshPlace();
  gateway = await openGateway(place, { JUNBAN_LANE_CAP: "50", JUNBAN_GATEWAY_BATCH: "20" });
});

afterAll(async () => {
  await gateway.tree.stop({ signal: "SIGKILL" });
});

const STRUCTURED = { "content-type": "application/cloudevents+json" };
const BATCH = { "content-type": "application/cloudevents-batch+json" };

const statusesOf = (results: readonly { readonly status: number }[] = []): number[] =>
  results.map(({ status }) => status);

describe("an event that is taken", () => {
  test("in structured mode is answered 202 and stands in its line", async () => {
    const event = eventOf({ lcid: "S-1" });
    const answer = await gateway.ask({
      headers: { "content-type": "application/cloudevents+json; charset=UTF-8" },
      body: JSON.stringify(event),
    });
    expect(answer.status).toBe(202);
    const { source, id, lcid } = event;
    expect(answer.document).toEqual({ results: [{ status: 202, outcome: "queued", source, id, lcid }] });
    expect(await standingIn(place, "S-1")).toEqual([event]);
  });

  test("in binary mode has its attributes in headers, percent-encoded or in quotes, and its data as body", async () => {
    const data = { authorizationId: "a-1", amount: 5, currency: "EUR" };
    const answer = await gateway.ask({
      headers: {
        "content-type": "application/json",
        "ce-specversion": "1.0",
        "CE-ID": "%E9%A0%86%20%22100%25%22",
        "ce-source": '"/payments"',
        "ce-type": "payment.authorized",
        "ce-lcid": "B-1",
        "ce-schemaversion": "1",
        "ce-traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      },
      body: JSON.stringify(data),
    });
    expect(answer.status).toBe(202);
    expect(await standingIn(place, "B-1")).toEqual([
      {
        specversion: "1.0",
        id: '順 "100%"',
        source: "/payments",
        type: "payment.authorized",
        lcid: "B-1",
        schemaversion: 1,
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        datacontenttype: "application/json",
        data,
      },
    ]);
  });

  test("of which the data breaks a rule keeps its place, and the answer says what will be rejected there", async () => {
    const data = { authorizationId: "a-1", amount: 10.5, currency: "JPY" };
    const answer = await gateway.post([eventOf({ lcid: "I-1", data })]);
    expect(answer.status).toBe(202);
    expect(answer.document.results).toMatchObject([
      { status: 202, invalid: { field: "data.amount", rule: "a whole number from 1 to 1000000000000" } },
    ]);
    expect(await standingIn(place, "I-1")).toHaveLength(1);
  });

  test("a second time is a repeat, in whatever order its keys come, and stands once", async () => {
    const event = eventOf({ lcid: "R-1" });
    const turned = { ...event, data: { currency: "JPY", amount: 1200, authorizationId: "a-1" } };
    const first = await gateway.post([event, turned]);
    const second = await gateway.post([turned]);
    expect(
      [first, second].flatMap(({ document }) => document.results?.map(({ outcome }) => outcome)),
    ).toEqual(["queued", "repeat", "repeat"]);
    expect(await standingIn(place, "R-1")).toHaveLength(1);
  });

  test("in a batch keeps its place among those of its order, and in the answer", async () => {
    const [one, other] = [eventsOf("O-1", 12), eventsOf("O-2", 8)];
    const mixed = one.flatMap((event, index) => [event, other[index]].filter((each) => each !== undefined));
    const answer = await gateway.post(mixed);
    expect(answer.status).toBe(202);
    expect(answer.document.results?.map(({ id }) => id)).toEqual(mixed.map(({ id }) => id));
    expect(idsOf(await standingIn(place, "O-1"))).toEqual(idsOf(one));
    expect(idsOf(await standingIn(place, "O-2"))).toEqual(idsOf(other));
  });

  test("an empty batch is taken, and nothing is in it", async () => {
    expect(await gateway.post([])).toMatchObject({ status: 202, document: { results: [] } });
  });
});

describe("an event that is refused", () => {
  test.each([
    ["no object", 7, "event"],
    ["null", null, "event"],
    ["another version", eventOf({ specversion: "0.3" }), "specversion"],
    ["no id", eventOf({ id: "" }), "id"],
    ["a number for its source", { ...eventOf(), source: 7 }, "source"],
    ["an order with a space", eventOf({ lcid: "A 1" }), "lcid"],
  ])("with %s is told the field and the rule", async (_, event, field) => {
    const answer = await gateway.ask({ headers: STRUCTURED, body: JSON.stringify(event) });
    expect(answer.status).toBe(400);
    expect(answer.document.error).toMatchObject({ code: "INVALID_EVENT", field });
    expect(answer.document.error?.rule).toMatch(/./);
  });

  test("for another body under its source and id is told 409, in one batch as well as later", async () => {
    const event = eventOf({ lcid: "C-1" });
    const other = { ...event, data: { ...event.data, amount: 1201 } };
    const batch = await gateway.post([event, other]);
    expect(batch.status).toBe(409);
    expect(statusesOf(batch.document.results)).toEqual([202, 409]);
    const later = await gateway.post([other]);
    expect(later.status).toBe(409);
    expect(later.document.error).toMatchObject({ code: "CONFLICT", field: "id" });
    expect(await standingIn(place, "C-1")).toEqual([event]);
  });

  test("for another body is not told so by a process that did not take the first; the inbox will say it", async () => {
    const event = eventOf({ lcid: "C-2" });
    const other = { ...event, data: { ...event.data, amount: 1201 } };
    expect((await gateway.post([event])).status).toBe(202);
    const neighbour = await startGateway(place);
    const answers = [await neighbour.post([other]), await neighbour.post([event])];
    // And the first is another body to that process: so no answer says which of them stands.
    expect(answers.map(({ status }) => status)).toEqual([202, 409]);
    expect(await standingIn(place, "C-2")).toEqual([event, other]);
  });

  test("with more than 64 KiB is told 413, and its neighbours are taken", async () => {
    const large = eventOf({ lcid: "L-1", data: { note: "x".repeat(66_000) } });
    const small = eventOf({ lcid: "L-1" });
    const answer = await gateway.post([large, small]);
    expect(answer.status).toBe(413);
    expect(statusesOf(answer.document.results)).toEqual([413, 202]);
    expect(answer.document.error).toMatchObject({ code: "EVENT_TOO_LARGE" });
    expect(await standingIn(place, "L-1")).toEqual([small]);
  });

  test("because its order's line is full is told 429 and when to come again; other orders' events are taken", async () => {
    for (const from of [0, 20]) expect((await gateway.post(eventsOf("F-1", 20, from))).status).toBe(202);
    const answer = await gateway.post([...eventsOf("F-1", 12, 40), eventOf({ lcid: "F-2" })]);
    expect(answer.status).toBe(429);
    expect(answer.headers["retry-after"]).toBe("2");
    expect(answer.document.error).toMatchObject({ code: "LANE_FULL" });
    expect(statusesOf(answer.document.results)).toEqual([...Array<number>(10).fill(202), 429, 429, 202]);
    expect(await standingIn(place, "F-1")).toHaveLength(50);
    expect(await standingIn(place, "F-2")).toHaveLength(1);
  });

  test("does not hide that another one has to come again", async () => {
    const answer = await gateway.post([{ bad: true }, ...eventsOf("F-1", 1, 100)]);
    expect(answer.status).toBe(429);
    expect(statusesOf(answer.document.results)).toEqual([400, 429]);
  });
});

describe("a request that is refused as a whole", () => {
  test.each([
    ["none", undefined],
    ["one that is unknown", `Bearer ${freshKey().token}`],
    ["one that is too short", "Bearer abc"],
    ["a password", "Basic bGFiOmxhYg=="],
  ])("for its token: %s", async (_, authorization) => {
    const answer = await gateway.ask({
      headers: { ...STRUCTURED, authorization },
      body: JSON.stringify(eventOf({ lcid: "T-1" })),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
    expect(answer.document.error?.code).toBe("UNAUTHORIZED");
    expect(await standingIn(place, "T-1")).toEqual([]);
  });

  test("for the source of one event, of which nothing is published then", async () => {
    const foreign = eventOf({ lcid: "T-2", source: "/payments/" });
    const answer = await gateway.post([eventOf({ lcid: "T-2" }), foreign]);
    expect(answer.status).toBe(403);
    expect(answer.document).toMatchObject({ error: { code: "FORBIDDEN_SOURCE", field: "source" } });
    expect(answer.document.results).toBeUndefined();
    expect(await standingIn(place, "T-2")).toEqual([]);
  });

  test.each([
    ["a form", { "content-type": "application/x-www-form-urlencoded" }],
    ["JSON that is no event", { "content-type": "application/json" }],
    ["Latin 1", { "content-type": "application/cloudevents+json; charset=iso-8859-1" }],
    ["what is compressed", { ...STRUCTURED, "content-encoding": "gzip" }],
    ["a content type that is none", { "content-type": "events" }],
    ["two charsets", { "content-type": "application/cloudevents+json; charset=utf-8; charset=utf-16" }],
    [
      "another format of events",
      { "content-type": "application/cloudevents-set+json", "ce-specversion": "1.0" },
    ],
    ["XML as data", { "content-type": "application/xml", "ce-specversion": "1.0" }],
  ])("for its content: %s", async (_, headers) => {
    const answer = await gateway.ask({ headers, body: "{}" });
    expect(answer.status).toBe(415);
    expect(answer.document.error).toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE", field: "content-type" });
  });

  test("for more events than a batch may have", async () => {
    const answer = await gateway.post(eventsOf("T-3", 21));
    expect(answer.status).toBe(413);
    expect(answer.document.error).toMatchObject({ code: "BATCH_TOO_LARGE", rule: "at most 20 events" });
    expect(await standingIn(place, "T-3")).toEqual([]);
  });

  test.each([
    ["a batch that is no list", BATCH, "{}", "body"],
    ["no JSON", STRUCTURED, "{", "body"],
    ["nothing", STRUCTURED, "", "body"],
    ["a header twice", { "ce-specversion": "1.0", "ce-id": ["1", "2"] }, "", "ce-id"],
    ["a name that is no attribute's", { "ce-specversion": "1.0", "ce-__proto__": "1" }, "", "ce-?"],
    ["data in a header", { "ce-specversion": "1.0", "ce-data": "1" }, "", "ce-?"],
    ["a broken percent sign", { "ce-specversion": "1.0", "ce-id": "%F" }, "", "ce-id"],
    ["a letter that is not encoded", { "ce-specversion": "1.0", "ce-id": "é" }, "", "ce-id"],
  ])("for its form: %s", async (_, headers, body, field) => {
    const answer = await gateway.ask({ headers, body });
    expect(answer.status).toBe(400);
    expect(answer.document.error).toMatchObject({ code: "MALFORMED", field });
    expect(answer.document.error?.rule).toMatch(/./);
  });

  test("for its address", async () => {
    for (const path of ["/", "/Events", "/events/1", "/webhooks/stripe"]) {
      expect((await gateway.ask({ path, headers: STRUCTURED, body: "{}" })).status).toBe(404);
    }
    expect((await gateway.ask({ method: "GET" })).status).toBe(404);
  });

  test("for too many events in a while, and says when there is room again", async () => {
    const slow = await startGateway(place, { JUNBAN_GATEWAY_EVENTS_PER_MINUTE: "10" });
    expect((await slow.post(eventsOf("T-4", 8))).status).toBe(202);
    const answer = await slow.post(eventsOf("T-4", 8, 8));
    expect(answer.status).toBe(429);
    expect(answer.document.error?.code).toBe("RATE_LIMITED");
    expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(await standingIn(place, "T-4")).toHaveLength(8);
  });

  test("for too many events of one token, while another token's are taken", async () => {
    const keys = [freshKey(), freshKey()] as const;
    const entries = keys.map(({ list }, index) => ({
      ...(JSON.parse(list) as object[])[0],
      name: `lab-${index}`,
    }));
    const slow = await startGateway(
      place,
      { JUNBAN_GATEWAY_EVENTS_PER_MINUTE: "10" },
      { ...keys[0], list: JSON.stringify(entries) },
    );
    const headers = { ...BATCH, authorization: `Bearer ${keys[1].token}` };
    const post = async (events: readonly object[]): Promise<number> =>
      (await slow.ask({ headers, body: JSON.stringify(events) })).status;
    expect((await slow.post(eventsOf("T-5", 8))).status).toBe(202);
    expect((await slow.post(eventsOf("T-5", 8, 8))).status).toBe(429);
    expect(await post(eventsOf("T-6", 8))).toBe(202);
    expect(await post(eventsOf("T-6", 8, 8))).toBe(429);
  });
});
