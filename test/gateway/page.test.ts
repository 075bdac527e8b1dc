import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findProgram, startProcess, startProxy } from "@junban/sandbox";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksIn, PROGRAMS, scriptFolder } from "../support/index.ts";
import { freshPlace, idsOf, standingIn, startGateway } from "./gateway-lab.ts";

const LIMIT_MS = 120_000;
const page = await readFile(new URL("../../docs/gateway.md", import.meta.url), "utf8");

let python: string;

// What the page runs is no part of the project, and a slim machine has none of it.
beforeAll(async () => {
  for (const program of [PROGRAMS.curl, PROGRAMS.openssl]) await findProgram(program);
  python = await findProgram(PROGRAMS.python);
}, 300_000);

async function shell(script: string, env: Readonly<Record<string, string>>): Promise<string> {
  const tree = await startProcess({
    command: "sh",
    args: ["-euc", script],
    env: { PATH: process.env["PATH"], ...env },
  });
  expect({ ...(await tree.exited), said: tree.stderr() }).toEqual({ code: 0, signal: null, said: "" });
  return tree.stdout();
}

test(
  "docs/gateway.md makes a token that the gateway knows, and each curl of it is answered as it shows",
  async () => {
    const [setUp = "", ...questions] = blocksIn(page, { language: "sh" });
    const answers = blocksIn(page, { language: "json" });
    expect(questions).toHaveLength(answers.length);
    const [list = "", token = ""] = (
      await shell(`${setUp}\nprintf '%s\\n' "$JUNBAN_GATEWAY_TOKENS" "$token"`, {})
    ).split("\n");
    const gateway = await startGateway(freshPlace(), {}, { token, list });
    const env = { gateway: `http://127.0.0.1:${gateway.port}`, token };
    for (const [index, question] of questions.entries()) {
      expect(JSON.parse(await shell(question, env))).toEqual(JSON.parse(answers[index] ?? ""));
    }
  },
  LIMIT_MS,
);

test(
  "the Python of docs/gateway.md needs no package, and sends again until its event stands in line",
  async () => {
    const [example = ""] = blocksIn(page, { language: "python" });
    const script = join(await scriptFolder(), "publish.py");
    await writeFile(script, example);
    const corner = freshPlace();
    const proxy = await startProxy({ url: corner.redisUrl });
    onTestFinished(async () => proxy.close());
    const gateway = await startGateway({ ...corner, redisUrl: proxy.url });
    proxy.cut();
    const run = await startProcess({
      command: python,
      // Isolated: neither what this machine has installed nor its environment helps.
      args: ["-I", script],
      env: {
        PATH: process.env["PATH"],
        gateway: `http://127.0.0.1:${gateway.port}`,
        token: gateway.token,
      },
    });
    onTestFinished(async () => void (await run.stop({ signal: "SIGKILL" })));
    await gateway.tree.waitForLine("Redis does not acknowledge events", { withinMs: 60_000 });
    proxy.heal();
    expect({ ...(await run.exited), said: run.stderr() }).toEqual({ code: 0, signal: null, said: "" });
    expect(run.stdout()).toBe("queued\n");
    expect(idsOf(await standingIn(corner, "A-1001"))).toEqual(["evt-80"]);
  },
  LIMIT_MS,
);

test("docs/gateway.md names every metric of the gateway, and no other; docs/observability.md none that is not there", async () => {
  const gateway = await startGateway(freshPlace());
  const { text } = await gateway.health("/metrics");
  const exposed = [...text.matchAll(/^# TYPE (junban_gateway_\w+) /gm)].map(([, name = ""]) => name);
  const named = [...page.matchAll(/`(junban_gateway_\w+)`/g)].map(([, name = ""]) => name);
  expect([...new Set(named)].toSorted()).toEqual(exposed.toSorted());
  const overview = await readFile(new URL("../../docs/observability.md", import.meta.url), "utf8");
  const watched = [...overview.matchAll(/(junban_gateway_\w+)/g)].map(([, name = ""]) => name);
  expect(watched.length).toBeGreaterThan(0);
  expect(watched.filter((name) => !exposed.includes(name))).toEqual([]);
});

test("docs/gateway.md names every code that an answer may have", async () => {
  const description = await readFile(new URL("../../apps/gateway/openapi.json", import.meta.url), "utf8");
  const source = await readFile(new URL("../../apps/gateway/src/refusal.ts", import.meta.url), "utf8");
  const codes = [
    ...description.matchAll(/"([A-Z]+_[A-Z_]+|CONFLICT|CLOSED)"/g),
    ...source.matchAll(/^ {2}([A-Z_]+): \d/gm),
  ];
  const spoken = codes
    .map(([, code = ""]) => code)
    .filter((code) => !/^(?:REDIS_|REPLICAS_|NOT_FOUND|INTERNAL|BAD_)/.test(code));
  expect(spoken.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
