import { startProxy } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { openConnection } from "./exchange.ts";
import { eventOf, freshKey, freshPlace, startGateway } from "./gateway-lab.ts";
import { SECRET, signatureOf } from "./stripe-lab.ts";

const LIMIT_MS = 120_000;

test(
  "nothing that was sent, and no secret, is in the log on any level, in metrics, or in the answer of a refusal",
  async () => {
    const corner = freshPlace();
    const proxy = await startProxy({ url: corner.redisUrl });
    onTestFinished(async () => proxy.close());
    const key = freshKey();
    const gateway = await startGateway(
      { ...corner, redisUrl: proxy.url },
      { LOG_LEVEL: "trace", JUNBAN_GATEWAY_STRIPE_SECRETS: SECRET },
      key,
    );
    const structured = { "content-type": "application/cloudevents+json" };
    const canary = "canary4711";
    const event = eventOf({ lcid: canary, id: canary, data: { authorizationId: canary, note: canary } });
    const signed = JSON.stringify({ object: "event", id: canary });
    const strangers = freshKey();
    const refusals = async (): Promise<string[]> => {
      const answers = [
        await gateway.ask({ headers: structured, body: `{"id":"${canary}` }),
        await gateway.ask({ headers: structured, body: JSON.stringify({ ...event, lcid: `${canary} ` }) }),
        await gateway.ask({ headers: structured, body: JSON.stringify({ ...event, source: canary }) }),
        await gateway.ask({ headers: { "content-type": canary }, body: canary }),
        await gateway.ask({ headers: { ...structured, authorization: `Bearer ${strangers.token}` } }),
        await gateway.ask({ headers: { "ce-specversion": "1.0", [`ce-${canary}_`]: canary } }),
        await gateway.ask({ path: `/${canary}` }),
        await gateway.ask({
          path: "/webhooks/stripe",
          headers: { "stripe-signature": canary },
          body: canary,
        }),
        await gateway.ask({
          path: "/webhooks/stripe",
          headers: { "stripe-signature": signatureOf(signed) },
          body: signed,
        }),
      ];
      expect(answers.map(({ status }) => status).filter((status) => status < 400)).toEqual([]);
      return answers.map(({ document, headers }) => JSON.stringify([document, headers]));
    };
    const said = await refusals();
    expect((await gateway.post([event])).status).toBe(202);
    proxy.cut();
    await gateway.post([event]);
    said.push(...(await refusals()));
    const broken = openConnection(gateway.port);
    broken.socket.write(`${canary} ${canary}\r\n\r\n`);
    said.push(await broken.heard);
    said.push((await gateway.health("/metrics")).text, (await gateway.health("/readyz")).text);
    gateway.tree.signal("SIGTERM");
    await gateway.tree.exited;
    said.push(gateway.tree.stdout(), gateway.tree.stderr());

    const password = new URL(corner.redisUrl).password;
    const { sha256 } = (JSON.parse(key.list) as [{ sha256: string }])[0];
    const secrets = [
      canary,
      key.token,
      strangers.token,
      sha256,
      SECRET,
      ...(password === "" ? [] : [password]),
    ];
    for (const secret of secrets) expect(said.filter((text) => text.includes(secret))).toEqual([]);
  },
  LIMIT_MS,
);
