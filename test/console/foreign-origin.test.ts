import { expect, test } from "vitest";
import { sharingHeaders } from "../support/foreign-origin.ts";
import { freshPlace, startConsole } from "./console-lab.ts";

test("no page from elsewhere may read what the console answers, whoever is logged in and whatever is asked", async () => {
  const junban = await startConsole(await freshPlace());
  const cookie = await junban.logIn("olga");
  const token = await junban.formToken(cookie);
  const pages = [
    "/",
    "/login",
    "/held",
    "/dead",
    "/queues/look",
    "/assets/console.js",
    "/livez",
    "/nothing-here",
  ];
  const shared = pages.map(async (path) => sharingHeaders(`${junban.url}${path}`, { headers: { cookie } }));
  const form = new URLSearchParams({ token, name: "olga", password: "guessed" });
  shared.push(sharingHeaders(`${junban.url}/login`, { method: "POST", headers: { cookie }, body: form }));
  shared.push(
    ...["/livez", "/readyz", "/metrics"].map(async (path) => sharingHeaders(`${junban.healthUrl}${path}`)),
  );
  expect((await Promise.all(shared)).flat()).toEqual([]);
});
