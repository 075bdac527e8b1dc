import { describe, expect, test } from "vitest";
import { consoleOfFile, freshPlace } from "./console-lab.ts";
import { cookieIn, PASSWORD, tokenIn } from "./console-process.ts";
import { EVERY_PAGE } from "./every-page.ts";
import { fillStage } from "./stage.ts";

const place = await freshPlace();
const filled = await freshPlace();
await fillStage(filled);
const [junban, busy] = await Promise.all([consoleOfFile(place), consoleOfFile(filled)]);

/** Every address there is, and some that are not. */
const PAGES = [
  "/",
  "/live",
  "/order?lcid=S-1",
  "/event?source=/shop&id=1",
  "/search?q=S-1",
  "/held",
  "/dead",
  "/halted",
  "/doctor",
  "/parked",
  "/actions",
  "/reasons",
  "/queues",
  "/queues/look",
  "/queues/look/api/queues",
  "/queues/look/static/css/main.css",
  "/queues/act",
  "/queues/act/api/queues",
  "/readyz",
  "/metrics",
  "/no-such-page",
  "/assets/../package.json",
  "/assets/no-such-file",
];
const OPERATORS_ACTS = [
  "/acts/replay",
  "/acts/drop",
  "/acts/acknowledge",
  "/acts/give-back",
  "/acts/free-lane",
];
const ACTS = [...OPERATORS_ACTS, "/logout", "/no-such-act"];
const QUEUE_ACTS = [
  "/queues/act/api/queues/%7Bpayment%7D/pause",
  "/queues/look/api/queues/%7Bpayment%7D/pause",
];

describe("somebody who is not logged in", () => {
  test.each(PAGES)("sees nothing at %s and is sent to the door", async (path) => {
    const answer = await junban.ask(path);
    expect(answer.status).toBe(303);
    expect(answer.headers.get("location")).toMatch(/^\/login/u);
    expect(answer.text).toBe("");
  });

  test.each(PAGES)("gets 401 and no page at %s when no page was asked for", async (path) => {
    const answer = await junban.ask(path, { headers: { accept: "application/json" } });
    expect([answer.status, answer.text]).toEqual([401, "log in first\n"]);
  });

  test.each([...ACTS, ...QUEUE_ACTS])("can do nothing at %s", async (path) => {
    const door = await junban.ask(path, { form: { token: "x" } });
    expect([door.status, door.headers.get("location")]).toEqual([303, "/login?undone=&next=%2F"]);
    const headers = { accept: "application/json" };
    expect((await junban.ask(path, { form: { token: "x" }, headers })).status).toBe(401);
    expect((await junban.ask(path, { method: "PUT", headers })).status).toBe(401);
  });

  test("learns that the process lives, finds the door, and what the door looks like", async () => {
    expect((await junban.ask("/livez")).text).toBe("ok\n");
    expect((await junban.ask("/login")).status).toBe(200);
    for (const name of ["console.css", "console.js", "icon.svg"]) {
      expect((await junban.ask(`/assets/${name}`)).status).toBe(200);
    }
  });

  test("comes back to the page that was asked for, and never to another place", async () => {
    const door = await junban.ask("/held?within=1h");
    expect(door.headers.get("location")).toBe("/login?next=%2Fheld%3Fwithin%3D1h");
    const next = async (path: string): Promise<string | null> => {
      const page = await junban.ask(`/login?${new URLSearchParams({ next: path }).toString()}`);
      const form = { token: tokenIn(page.text), name: "vera", password: PASSWORD, next: path };
      const answer = await junban.ask("/login", { cookie: cookieIn(page), form });
      return answer.headers.get("location");
    };
    expect(await next("/held?within=1h")).toBe("/held?within=1h");
    const foreign = [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/a\nb",
      "/..//evil.example",
    ];
    for (const path of foreign) {
      expect(await next(path)).toBe("/");
    }
  });

  test("and whose session has ended is told that nothing was done, and comes back to the page of the form", async () => {
    const cookie = await junban.logIn("olga");
    const token = await junban.formToken(cookie);
    await junban.ask("/logout", { cookie, form: { token } });
    const act = async (referer: string) => {
      const form = { token, source: "/shop", id: "1", reason: "seen to" };
      const answer = await junban.ask("/acts/drop", { cookie, form, headers: { referer } });
      return answer.headers.get("location") ?? "";
    };
    const door = await act(`${junban.url}/dead?outcome=alerts`);
    expect(door).toBe(`/login?undone=&next=${encodeURIComponent("/dead?outcome=alerts")}`);
    expect((await junban.ask(door)).text).toContain("so nothing was done. Log in and do it again.");
    expect(await act("https://evil.example/dead")).toBe("/login?undone=&next=%2F");
    expect(await act(`${junban.url}/..//evil.example`)).toBe("/login?undone=&next=%2F");
  });

  test("is not believed to be somebody because a header says so", async () => {
    const headers = { "x-forwarded-user": "olga", "x-junban-proxy-secret": "x".repeat(40) };
    expect((await junban.ask("/", { headers })).status).toBe(303);
  });
});

describe("a viewer", () => {
  test("sees every page, and no button that acts, where an operator sees them", async () => {
    const [vera, olga] = [await busy.logIn("vera"), await busy.logIn("olga")];
    const offered = new Set<string>();
    for (const path of EVERY_PAGE) {
      const [looking, acting] = [
        await busy.ask(path, { cookie: vera }),
        await busy.ask(path, { cookie: olga }),
      ];
      expect([path, looking.status]).toEqual([path, acting.status]);
      expect([path, looking.text.includes("/acts/")]).toEqual([path, false]);
      for (const [act] of acting.text.matchAll(/\/acts\/[\w-]+/gu)) offered.add(act);
    }
    expect([...offered].toSorted()).toEqual(OPERATORS_ACTS.toSorted());
  });

  test.each(OPERATORS_ACTS)("may not act at %s", async (path) => {
    const cookie = await junban.logIn("vera");
    const token = await junban.formToken(cookie);
    const form = { token, source: "/shop", id: "1", reason: "because" };
    const answer = await junban.ask(path, { cookie, form });
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("may look, and not act")]);
  });

  test("sees the raw queues without a button, and changes none by asking all the same", async () => {
    const cookie = await junban.logIn("vera");
    expect((await junban.ask("/queues", { cookie })).headers.get("location")).toBe("/queues/look");
    const queues = await junban.ask("/queues/look/api/queues", { cookie });
    expect(queues.status).toBe(200);
    const found = (JSON.parse(queues.text) as { queues: { name: string; readOnlyMode: boolean }[] }).queues;
    expect(found.map(({ readOnlyMode }) => readOnlyMode)).toEqual(found.map(() => true));
    expect((await junban.ask("/queues/act", { cookie })).status).toBe(403);
    for (const path of QUEUE_ACTS) {
      expect((await junban.ask(path, { cookie, method: "PUT" })).status).toBe(403);
    }
  });
});

describe("a form", () => {
  const act = { source: "/shop", id: "no-such-event", reason: "because" };

  test("without this reader's token does nothing, whoever sends it", async () => {
    const cookie = await junban.logIn("olga");
    const other = await junban.formToken(await junban.logIn("vera"));
    for (const token of ["", "x", other]) {
      const answer = await junban.ask("/acts/drop", { cookie, form: { ...act, token } });
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("not one of the console")]);
    }
    expect((await junban.ask("/actions", { cookie })).text).toContain("Nobody has done anything yet");
  });

  test("of another page does nothing, even with the right token", async () => {
    const cookie = await junban.logIn("olga");
    const token = await junban.formToken(cookie);
    for (const origin of ["https://evil.example", "null", junban.url.replace("http:", "https:")]) {
      const answer = await junban.ask("/acts/drop", { cookie, form: { ...act, token }, headers: { origin } });
      expect(answer.status).toBe(403);
    }
    const right = await junban.ask("/acts/drop", { cookie, form: { ...act, token } });
    expect(right.status).toBe(303);
  });

  test("for the door needs its own token too, so that nobody is logged in as somebody else", async () => {
    const form = { name: "vera", password: PASSWORD, token: "" };
    expect((await junban.ask("/login", { form })).status).toBe(403);
    const door = await junban.ask("/login");
    const stolen = { ...form, token: tokenIn(door.text) };
    expect((await junban.ask("/login", { form: stolen })).status).toBe(403);
    expect((await junban.ask("/login", { form: stolen, cookie: cookieIn(door) })).status).toBe(303);
  });

  test("that has a field twice, or a character that cannot be stored, is refused", async () => {
    const cookie = await junban.logIn("olga");
    const token = await junban.formToken(cookie);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const send = async (body: string): Promise<number> => {
      const response = await fetch(`${junban.url}/acts/drop`, {
        method: "POST",
        body,
        redirect: "manual",
        headers: { ...headers, cookie, origin: junban.url },
      });
      return response.status;
    };
    expect(await send(`token=${token}&source=/shop&id=1&id=2&reason=x`)).toBe(400);
    expect(await send(`token=${token}&source=/shop&id=%00&reason=x`)).toBe(400);
    const blank = await junban.ask("/acts/drop", {
      cookie,
      form: { token, source: "/shop", id: "1", reason: " " },
      headers: { referer: `${junban.url}/held` },
    });
    expect([blank.status, blank.text]).toEqual([400, expect.stringContaining('<a href="/held">Back')]);
  });
});

test("another name for this machine opens no door, so that no page can point one of its own at it", async () => {
  const { request } = await import("node:http");
  const port = new URL(junban.url).port;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(
      { host: "127.0.0.1", port, path: "/login", headers: { host: `evil.example:${port}` } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      },
    )
      .on("error", reject)
      .end();
  });
  expect(status).toBe(403);
});

test("every page tells browsers to run nothing but the console's own, and to keep nothing", async () => {
  const cookie = await junban.logIn("olga");
  for (const path of ["/", "/held", "/login", "/no-such-page", "/queues/act"]) {
    const { headers } = await junban.ask(path, { cookie });
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'self'(?:;|$)/u);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});
