import { createHash, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { enqueueEvent, migrateUpstream } from "@junban/upstream-outbox";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { environmentOf, freshLcid, freshPlace, placed, startWorker } from "../fleet/worker-lab.ts";
import { eventually, freshDatabase } from "../support/index.ts";
import { picture, spanNamed } from "./connected.ts";
import { startReceiver } from "./receiver.ts";

const LIMIT_MS = 120_000;
const REMOTE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

type Environment = Readonly<Record<string, string>>;

async function launch(name: string, env: Environment): Promise<ProcessTree> {
  const tree = await startProcess({
    command: process.execPath,
    args: ["--import", "tsx", "--conditions", "@junban/source", `apps/${name}/src/main.ts`],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", JUNBAN_GATEWAY_HTTP_PORT: "0", ...env },
    cwd: ROOT,
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  return tree;
}

async function endCleanly(tree: ProcessTree): Promise<void> {
  tree.signal("SIGTERM");
  expect(await tree.exited).toEqual({ code: 0, signal: null });
}

test(
  "an event that comes over HTTP is one trace through gateway, worker and a relay of its own",
  async () => {
    const receiver = await startReceiver();
    const place = await freshPlace();
    const traced = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environmentOf(place) };
    const token = randomBytes(32).toString("base64url");
    const sha256 = createHash("sha256").update(token).digest("hex");
    const gateway = await launch("gateway", {
      ...traced,
      JUNBAN_GATEWAY_TOKENS: JSON.stringify([{ name: "lab", sha256, sources: ["/lab"] }]),
    });
    const relay = await launch("relay", traced);
    const worker = await startWorker(place, traced);
    const told = await gateway.waitForLine("the gateway serves", { withinMs: 60_000 });
    const { port } = JSON.parse(told) as { port: number };
    const [own, remote] = [placed(freshLcid()), placed(freshLcid())];
    const send = async (event: object, headers: Environment): Promise<void> => {
      const { status } = await fetch(`http://127.0.0.1:${port}/events`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(event),
      });
      expect(status).toBe(202);
    };
    await send(own, { "content-type": "application/cloudevents+json" });
    // In binary mode the attribute is a header.
    const { data, ...attributes } = remote;
    const named = Object.entries({ ...attributes, traceparent: REMOTE });
    const headers = Object.fromEntries(named.map(([name, value]) => [`ce-${name}`, value]));
    await send(data as object, { "content-type": "application/json", ...headers });

    const publishedBy = (traceId: string): string[] =>
      picture(receiver.spans, traceId).filter((line) => line.includes("publish {order-updates}"));
    await eventually(
      () => {
        expect(publishedBy(REMOTE.split("-")[1] ?? "")).toHaveLength(1);
      },
      { withinMs: 60_000 },
    );
    for (const tree of [gateway, worker.tree, relay]) await endCleanly(tree);
    const { traceId } = receiver.spans.find(
      ({ name, attributes: { "cloudevents.event_id": id } }) => name.startsWith("publish") && id === own.id,
    ) ?? { traceId: "none" };
    const mine = receiver.spans.filter((span) => span.traceId === traceId);
    expect(spanNamed(mine, "publish {line-item}").service).toBe("junban-gateway");
    expect(spanNamed(mine, "apply {line-item}").service).toBe("junban-worker");
    expect(spanNamed(mine, "publish {order-updates}").service).toBe("junban-relay");
    expect(picture(mine, traceId).every((line) => !line.includes("somebody unknown"))).toBe(true);
  },
  LIMIT_MS,
);

test(
  "an event out of a producer's outbox goes on in the trace that the producer put it into",
  async () => {
    const receiver = await startReceiver();
    const place = await freshPlace();
    const databaseUrl = await freshDatabase();
    await migrateUpstream({ databaseUrl });
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    onTestFinished(async () => client.end());
    await client.query("begin");
    await enqueueEvent(client, { ...placed(freshLcid()), traceparent: REMOTE });
    await client.query("commit");
    const forwarder = await launch("forwarder", {
      ...environmentOf(place),
      DATABASE_URL: databaseUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    });
    await eventually(() => receiver.spans.length > 0, { withinMs: 60_000 });
    await endCleanly(forwarder);
    expect(spanNamed(receiver.spans, "publish {line-item}")).toMatchObject({
      service: "junban-forwarder",
      traceId: REMOTE.split("-")[1],
      parentSpanId: REMOTE.split("-")[2],
    });
  },
  LIMIT_MS,
);
