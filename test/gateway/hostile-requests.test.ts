import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { answerIn, openConnection } from "./exchange.ts";
import { eventOf, freshPlace, idsOf, openGateway, standingIn } from "./gateway-lab.ts";
import type { Gateway, Place } from "./gateway-lab.ts";

let place: Place;
let gateway: Gateway;

beforeAll(async () => {
  place = freshPlace();
  gateway = await openGateway(place, {
    JUNBAN_GATEWAY_BODY_BYTES: "200000",
    JUNBAN_GATEWAY_REQUEST_MS: "1500",
  });
});

afterAll(async () => {
  await gateway.tree.stop({ signal: "SIGKILL" });
});

const STRUCTURED = { "content-type": "application/cloudevents+json" };

/** An event whose data is written out by hand. */
function written(lcid: string, data: string): string {
  const { data: _data, ...event } = eventOf({ lcid });
  return `${JSON.stringify(event).slice(0, -1)},"data":${data}}`;
}

function requestHead(length: number): string {
  return [
    "POST /events HTTP/1.1",
    "host: gateway",
    `authorization: Bearer ${gateway.token}`,
    "content-type: application/cloudevents+json",
    `content-length: ${length}`,
    "",
    "",
  ].join("\r\n");
}

async function expectGoodHealth(lcid: string): Promise<void> {
  const event = eventOf({ lcid });
  expect((await gateway.ask({ headers: STRUCTURED, body: JSON.stringify(event) })).status).toBe(202);
  expect(idsOf(await standingIn(place, lcid))).toContain(event.id);
  expect(gateway.tree.size()).toBeGreaterThan(0);
}

describe("a body", () => {
  test("larger than allowed is refused by what it says of its length, before it is sent", async () => {
    const { socket, heard } = openConnection(gateway.port);
    socket.write(requestHead(200_001));
    const answer = answerIn(await heard);
    expect(answer.status).toBe(413);
    expect(answer.document.error?.code).toBe("BODY_TOO_LARGE");
    await expectGoodHealth("H-1");
  });

  test("larger than allowed is refused also when it does not say how long it is", async () => {
    const { socket, heard } = openConnection(gateway.port);
    socket.write(requestHead(0).replace("content-length: 0", "transfer-encoding: chunked"));
    const chunk = "x".repeat(60_000);
    for (let sent = 0; sent < 4; sent += 1) socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
    expect(answerIn(await heard).status).toBe(413);
    await expectGoodHealth("H-2");
  });

  test("of a stranger is not waited for", async () => {
    const { socket, heard } = openConnection(gateway.port);
    socket.write(requestHead(100_000).replace(gateway.token, "x".repeat(43)));
    expect(answerIn(await heard).status).toBe(401);
  });

  test("for an address at which nothing is, is not waited for", async () => {
    const { socket, heard } = openConnection(gateway.port);
    socket.write(requestHead(100_000).replace("/events", "/event"));
    const answer = answerIn(await heard, "/event");
    expect([answer.status, answer.document.error?.code]).toEqual([404, "NOT_FOUND"]);
  });

  test("that is not UTF-8 is refused", async () => {
    const body = Buffer.from(JSON.stringify(eventOf({ lcid: "H-3", id: "é" })), "latin1");
    const answer = await gateway.ask({ headers: STRUCTURED, body });
    expect(answer.document.error).toMatchObject({ code: "MALFORMED", field: "body", rule: "UTF-8" });
  });

  test.each([
    ["lists inside lists, thirty thousand deep", `${"[".repeat(30_000)}${"]".repeat(30_000)}`],
    ["objects inside objects, ten thousand deep", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ])("of %s breaks no process", async (_, data) => {
    const answer = await gateway.ask({ headers: STRUCTURED, body: written("H-4", data) });
    expect([202, 400, 413]).toContain(answer.status);
    await expectGoodHealth("H-5");
  });

  test("with `__proto__` is an event with wrong data, kept in its place, and changes nothing for others", async () => {
    const data =
      '{"__proto__":{"sources":["/other"],"status":202},"constructor":{"prototype":{"isAdmin":true}}}';
    const answer = await gateway.ask({ headers: STRUCTURED, body: written("H-6", data) });
    expect(answer.status).toBe(202);
    expect(answer.document.results).toMatchObject([
      { invalid: { rule: "no __proto__ and no constructor.prototype" } },
    ]);
    expect((await gateway.post([eventOf({ source: "/other" })])).status).toBe(403);
    const inherited = await gateway.ask({
      headers: STRUCTURED,
      body: `{"__proto__":${JSON.stringify(eventOf())}}`,
    });
    expect(inherited.status).toBe(400);
  });

  test.each([
    ["NUL in a text", '{"authorizationId":"a\\u0000"}'],
    ["half a surrogate pair", '{"authorizationId":"\\ud800"}'],
    ["a number beyond everything", '{"amount":1e400}'],
    ["a number beyond exact integers", '{"amount":9007199254740993}'],
  ])("with %s is an event with wrong data, kept in its place", async (_, data) => {
    const answer = await gateway.ask({ headers: STRUCTURED, body: written("H-7", data) });
    expect(answer.status).toBe(202);
    expect(answer.document.results?.[0]).toHaveProperty("invalid");
  });

  test("of `'); DROP TABLE`, Lua and braces in a name is a name, or no lcid", async () => {
    const id = "'); DROP TABLE orders;-- {x} return redis.call('FLUSHALL')";
    expect((await gateway.post([eventOf({ lcid: "H-8", id })])).status).toBe(202);
    expect((await gateway.post([eventOf({ lcid: "{H-8}" })])).status).toBe(400);
    expect(idsOf(await standingIn(place, "H-8"))).toEqual([id]);
  });
});

describe("a connection", () => {
  test("that sends its request too slowly is ended, and told why", async () => {
    const { socket, heard } = openConnection(gateway.port);
    const body = JSON.stringify(eventOf({ lcid: "H-9" }));
    socket.write(`${requestHead(body.length)}${body.slice(0, 20)}`);
    const answer = answerIn(await heard);
    expect(answer.status).toBe(408);
    expect(answer.document.error?.code).toBe("REQUEST_TIMEOUT");
    expect(await standingIn(place, "H-9")).toEqual([]);
  });

  test("that breaks off in the middle of an event publishes nothing", async () => {
    const { socket, heard } = openConnection(gateway.port);
    const body = JSON.stringify(eventOf({ lcid: "H-10" }));
    socket.write(`${requestHead(body.length)}${body.slice(0, -2)}`, () => socket.resetAndDestroy());
    await heard;
    await expectGoodHealth("H-11");
    expect(await standingIn(place, "H-10")).toEqual([]);
  });

  test("that goes away before its answer leaves its event published", async () => {
    const { socket } = openConnection(gateway.port);
    const event = eventOf({ lcid: "H-12" });
    const body = JSON.stringify(event);
    socket.write(`${requestHead(body.length)}${body}`, () => socket.end());
    await eventually(async () => expect(await standingIn(place, "H-12")).toEqual([event]));
  });

  test("with headers without end is told 431, and what is not HTTP 400", async () => {
    const endless = openConnection(gateway.port);
    endless.socket.write(requestHead(0).replace("host: gateway", `host: ${"x".repeat(20_000)}`));
    expect(answerIn(await endless.heard).status).toBe(431);
    const other = openConnection(gateway.port);
    other.socket.write("HELO gateway\r\n\r\n");
    expect(answerIn(await other.heard).status).toBe(400);
  });

  test("that says the length of its request in two ways is told 400, and has no second request", async () => {
    for (const more of ["transfer-encoding: chunked", "content-length: 7"]) {
      const { socket, heard } = openConnection(gateway.port);
      socket.write(requestHead(30).replace("\r\n\r\n", `\r\n${more}\r\n\r\n`));
      expect(answerIn(await heard).status).toBe(400);
    }
  });

  test("with an address that cannot be read is told 400", async () => {
    const { socket, heard } = openConnection(gateway.port);
    socket.write("POST /%E0%A4%A HTTP/1.1\r\nhost: gateway\r\ncontent-length: 0\r\n\r\n");
    expect(answerIn(await heard).document.error).toMatchObject({ code: "MALFORMED", field: "path" });
  });
});
