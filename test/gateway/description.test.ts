import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createPublisher } from "@junban/event-queues";
import { createProcessMetrics } from "@junban/service";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { GatewayMetrics } from "../../apps/gateway/src/gateway-metrics.ts";
import { Intake } from "../../apps/gateway/src/intake.ts";
import { RateLimit } from "../../apps/gateway/src/rate-limit.ts";
import { createGatewayServer } from "../../apps/gateway/src/server.ts";
import { TokenBook } from "../../apps/gateway/src/token-book.ts";
import { expectDescribed, readDescription } from "./description.ts";
import { exchange } from "./exchange.ts";
import { eventOf, freshKey, freshPlace, startGateway } from "./gateway-lab.ts";

describe("the OpenAPI document", () => {
  test("is served to everybody as it lies in the tree", async () => {
    const gateway = await startGateway(freshPlace());
    const answer = await exchange(gateway.port, { method: "GET", path: "/openapi.json" });
    expect(answer.status).toBe(200);
    expect(answer.document).toEqual(readDescription());
  });

  test("has schemas that are schemas, and references that lead somewhere", () => {
    const text = readFileSync(new URL("../../apps/gateway/openapi.json", import.meta.url), "utf8");
    const document = JSON.parse(text) as { components: { schemas: Record<string, object> } };
    const at = (pointer: string): unknown =>
      pointer
        .split("/")
        .slice(1)
        .reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], document);
    for (const [, pointer = ""] of text.matchAll(/"\$ref": "#([^"]+)"/g)) {
      expect(at(pointer), pointer).toBeDefined();
    }
    const ajv = new Ajv2020({ strict: true, strictTypes: false });
    ajv.addVocabulary(["components"]);
    for (const schema of Object.values(document.components.schemas)) {
      ajv.compile({ ...schema, components: document.components });
    }
  });

  test("describes no answer that it does not: a status, a header and a field too many or too few are noticed", () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const given = { method: "POST", path: "/events", status: 400, headers };
    const error = { code: "MALFORMED", message: "x" };
    expectDescribed({ ...given, document: { error } });
    for (const wrong of [
      { ...given, status: 418, document: { error } },
      { ...given, status: 503, document: { error } },
      { ...given, document: { error, extra: 1 } },
      { ...given, document: { error: { code: "MALFORMED" } } },
      { ...given, headers: {}, document: { error } },
    ]) {
      expect(() => expectDescribed(wrong)).toThrow();
    }
  });
});

test("a fault of ours is answered 500 without a word about it, and logged without what was sent", async () => {
  const { redisUrl, prefix } = freshPlace();
  const publisher = createPublisher({ redis: redisUrl, prefix });
  const key = freshKey();
  const logged: unknown[] = [];
  const metrics = createProcessMetrics();
  const intake = new Intake({ publisher });
  intake.publish = async (events) => {
    throw new TypeError(`canary ${JSON.stringify(events)}`);
  };
  const app = createGatewayServer({
    tokens: new TokenBook([
      { name: "lab", sha256: createHash("sha256").update(key.token).digest("hex"), sources: ["/payments"] },
    ]),
    rateLimit: new RateLimit({ perMinute: 100 }),
    intake,
    stripe: null,
    metrics: new GatewayMetrics({ registry: metrics.registry }),
    logger: { error: (...entry: unknown[]) => logged.push(entry) },
    openapi: "{}",
    bodyBytes: 100_000,
    mostEvents: 10,
    requestMs: 10_000,
    isEnding: () => false,
  });
  onTestFinished(async () => {
    await app.close();
    await publisher.close();
    metrics.close();
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as { port: number };
  const answer = await exchange(port, {
    headers: { authorization: `Bearer ${key.token}`, "content-type": "application/cloudevents+json" },
    body: JSON.stringify(eventOf()),
  });
  expect(answer.status).toBe(500);
  expect(answer.document.error?.code).toBe("INTERNAL");
  expect(JSON.stringify(logged)).toContain("TypeError");
  expect(JSON.stringify([logged, answer.document])).not.toContain("canary");
});
