import { expect, test } from "vitest";
import { sharingHeaders } from "../support/foreign-origin.ts";
import { eventOf, freshPlace, startGateway } from "./gateway-lab.ts";

test("no page from elsewhere may send events through a browser, or read what the gateway answers", async () => {
  const { port, token } = await startGateway(freshPlace());
  const url = `http://127.0.0.1:${port}`;
  const events = {
    method: "POST",
    headers: { "content-type": "application/cloudevents+json", authorization: `Bearer ${token}` },
    body: JSON.stringify(eventOf({ lcid: "X-1" })),
  };
  const shared = [
    sharingHeaders(`${url}/events`, events),
    sharingHeaders(`${url}/events`, { ...events, headers: {} }),
    sharingHeaders(`${url}/webhooks/stripe`, { method: "POST", body: "{}" }),
    sharingHeaders(`${url}/openapi.json`),
    sharingHeaders(`${url}/nothing-here`),
  ];
  expect((await Promise.all(shared)).flat()).toEqual([]);
});
