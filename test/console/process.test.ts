import { expect, test } from "vitest";
import { eventually } from "../support/index.ts";
import { consoleOfFile, freshPlace, startConsole } from "./console-lab.ts";
import { cookieIn, launchConsole, tokenIn } from "./console-process.ts";
import { applyAll, event, storeAt } from "./stage.ts";

const place = await freshPlace();
const store = storeAt(place);
// Something to act on, so that pages have forms.
await applyAll(store, [event("S-1", "cancel.confirmed", { cancelId: "x-1" })]);
await store.close();
const junban = await consoleOfFile(place);
const ADDRESSES = {
  DATABASE_URL: place.databaseUrl,
  REDIS_URL: place.redisUrl,
  JUNBAN_PREFIX: place.prefix,
};
const SECRET = "s".repeat(40);

test("a console that nobody may enter does not start, and says what to set", async () => {
  const tree = await launchConsole(ADDRESSES);
  expect((await tree.exited).code).toBe(2);
  expect(tree.stderr()).toContain("JUNBAN_CONSOLE_USERS_FILE is not set");
});

test("hash-password reads a password from standard input and prints what the list of users takes", async () => {
  const tree = await launchConsole({}, { args: ["hash-password"], input: "tea and biscuits\n" });
  expect((await tree.exited).code).toBe(0);
  const hash = tree.stdout().trim();
  expect(hash).toMatch(/^\$scrypt\$/u);
  const short = await launchConsole({}, { args: ["hash-password"], input: "tea\n" });
  expect((await short.exited).code).toBe(2);
});

test("a session ends when nobody uses it, its stream is told, and the door takes it from there", async () => {
  const brief = await startConsole(place, { JUNBAN_CONSOLE_IDLE_MS: "1500" });
  const cookie = await brief.logIn("vera");
  const stream = await fetch(`${brief.url}/live`, { headers: { cookie } });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  expect(stream.headers.get("content-security-policy")).toContain("default-src 'none'");
  // Following the fleet is not using the session: a browser left open does not stay logged in.
  const told = await stream.text();
  expect(told).toContain("event: look");
  expect(told.trimEnd()).toMatch(/event: over\ndata: the session is over, log in again$/u);
  expect((await brief.ask("/", { cookie })).headers.get("location")).toBe("/login");
});

test("logging out ends the session on the server, not only in the browser", async () => {
  const cookie = await junban.logIn("vera");
  const stream = await fetch(`${junban.url}/live`, { headers: { cookie } });
  const form = { token: await junban.formToken(cookie) };
  const answer = await junban.ask("/logout", { cookie, form });
  expect(answer.headers.get("set-cookie")).toContain("Max-Age=0");
  expect(await stream.text()).toContain("event: over");
  expect((await junban.ask("/", { cookie })).status).toBe(303);
});

test("a cookie is for this console alone, out of reach of scripts, and over TLS never sent in the open", async () => {
  const door = await junban.ask("/login");
  expect(door.headers.get("set-cookie")).toMatch(
    /^junban-stranger-\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/u,
  );
  const origin = "https://console.example";
  const open = await startConsole(place, { JUNBAN_CONSOLE_ORIGIN: origin });
  const answer = await open.ask("/login", { headers: { host: "console.example" } });
  expect(answer.headers.get("set-cookie")).toMatch(
    /^__Host-junban-stranger=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict$/u,
  );
  expect(answer.headers.get("strict-transport-security")).toContain("max-age=31536000");
  const form = { token: tokenIn(answer.text), name: "vera", password: "wrong" };
  const cookie = cookieIn(answer);
  expect((await open.ask("/login", { cookie, form, headers: { origin } })).text).toContain("is wrong");
  expect((await open.ask("/login", { cookie, form })).status).toBe(403);
});

test("a browser is logged in to two consoles on two ports of one machine, and logging out of one leaves the other", async () => {
  const other = await startConsole(place);
  const cookies = await Promise.all([junban.logIn("olga"), other.logIn("olga")]);
  expect(new Set(cookies.map((cookie) => cookie.split("=")[0])).size).toBe(2);
  // A browser sends both to both: cookies know no port.
  const cookie = cookies.join("; ");
  const token = await junban.formToken(cookie);
  expect((await junban.ask("/logout", { cookie, form: { token } })).status).toBe(303);
  expect((await junban.ask("/held", { cookie })).status).toBe(303);
  expect((await other.ask("/held", { cookie })).status).toBe(200);
});

test("too many wrong passwords are answered with when to come again, and are logged without them", async () => {
  const door = await junban.ask("/login");
  const [cookie, token] = [cookieIn(door), tokenIn(door.text)];
  const attempt = async () =>
    junban.ask("/login", { cookie, form: { token, name: "zoe", password: "a-wrong-guess" } });
  for (let at = 1; at <= 10; at += 1) expect((await attempt()).status).toBe(403);
  const late = await attempt();
  expect(late.status).toBe(429);
  expect(Number(late.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(late.text).toContain("Too many attempts");
  expect(junban.tree.stdout()).toContain("somebody could not log in");
  expect(junban.tree.stdout()).toContain('"user":"zoe"');
  // A password that somebody typed into the field above is none of the log's business either.
  const form = { token, name: "in-the-wrong-field", password: "a-wrong-guess" };
  await junban.ask("/login", { cookie, form });
  await junban.tree.waitForLine('"user":null', { withinMs: 5_000 });
  for (const secret of ["a-wrong-guess", "in-the-wrong-field"]) {
    expect(junban.tree.stdout()).not.toContain(secret);
  }
});

test("a proxy is believed with its secret only, gives each the role of the list, and its people's forms need a token as well", async () => {
  const guarded = await startConsole(place, {
    JUNBAN_CONSOLE_PROXY_SECRET: SECRET,
    JUNBAN_CONSOLE_PROXY_OPERATORS: "olga@example.com,otto",
  });
  const through = (name: string, secret = SECRET) => ({
    "x-forwarded-user": name,
    "x-junban-proxy-secret": secret,
  });
  const page = await guarded.ask("/held", { headers: through("vera@example.com") });
  expect(page.text).toContain("vera@example.com (proxy)");
  expect(page.text).not.toContain("Log out");
  expect(page.text).not.toContain("/acts/");
  const foreign = [through("otto", "x".repeat(40)), through(""), through("<b>otto</b>")];
  for (const headers of foreign) expect((await guarded.ask("/", { headers })).status).toBe(303);
  const own = tokenIn((await guarded.ask("/held", { headers: through("otto") })).text);
  const form = { source: "/shop", id: "none", token: own };
  const act = async (name: string) => guarded.ask("/acts/replay", { headers: through(name), form });
  expect((await act("olga@example.com")).status).toBe(403);
  expect((await act("otto")).status).toBe(303);
});

test("the health port says whether it serves and what is behind it, and nothing of the fleet", async () => {
  const ready = await fetch(`${junban.healthUrl}/readyz`);
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { ok: true, requests: "taken", redis: "answers", postgres: "answers" },
  ]);
  const metrics = await (await fetch(`${junban.healthUrl}/metrics`)).text();
  expect(metrics).toContain("junban_event_loop_lag_seconds");
  expect((await fetch(`${junban.healthUrl}/held`)).status).toBe(404);
});

test("one person's pages follow the fleet up to a bound, and others still can", async () => {
  const cookie = await junban.logIn("vera");
  const open = async (who: string) => fetch(`${junban.url}/live`, { headers: { cookie: who } });
  const streams: Response[] = [];
  for (let at = 1; at <= 8; at += 1) streams.push(await open(cookie));
  expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
  expect(await (await open(cookie)).text()).toMatch(/^event: over\ndata: too many pages/u);
  const other = await open(await junban.logIn("olga"));
  expect(other.status).toBe(200);
  await streams[0]?.body?.cancel();
  await eventually(async () => {
    const again = (await open(cookie)).body?.getReader();
    const { value } = (await again?.read()) ?? {};
    return !new TextDecoder().decode(value).includes("event: over");
  });
});

test("asked to stop it ends its streams and exits 0 while pages follow the fleet", async () => {
  const cookie = await junban.logIn("olga");
  const streams = await Promise.all(
    [1, 2, 3].map(async () => fetch(`${junban.url}/live`, { headers: { cookie } })),
  );
  junban.tree.signal("SIGTERM");
  await Promise.all(streams.map(async (stream) => stream.text()));
  expect((await junban.tree.exited).code).toBe(0);
});
