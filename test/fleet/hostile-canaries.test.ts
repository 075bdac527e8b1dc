import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, startProxy } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import { eventText, objectText, soundData } from "./hostile-content.ts";
import { Intruder, requestKey, stamped } from "./hostile-lab.ts";
import type { PlantedJob } from "./hostile-lab.ts";
import {
  environmentOf,
  eventsOf,
  freshPlace,
  launchWorker,
  poolOf,
  publish,
  rowsOf,
  SHORT_LEASE,
  startWorker,
} from "./worker-lab.ts";
import type { Environment, Place, WorkerProcess } from "./worker-lab.ts";

const LIMIT_MS = 180_000;
const JUNBAN = fileURLToPath(new URL("../../apps/cli/bin/junban.js", import.meta.url));

/** Secrets of every kind that the fleet knows by their looks, so that they may not even stand in an identifier. */
const SECRETS = [
  "4111111111111111",
  "4111 1111 1111 1111",
  "4111-1111-1111-1111",
  "canary.jane@example.com",
  "Bearer canarytoken0123456789",
  "postgres://canary:canarypass@db.example/orders",
];
const LCIDS = SECRETS.filter((secret) => !secret.includes(" "));

/** How they look wherever they are found. */
const LOOKS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a card number", /4111[ ._-]?1111[ ._-]?1111[ ._-]?1111/],
  ["an e-mail address", /canary\.jane@/],
  ["a bearer token", /canarytoken0123456789/],
  ["a connection string's password", /canarypass/],
];

/** What may be found nowhere: secrets by their looks, the addresses' own passwords, and every word planted in a payload. */
class Canaries {
  readonly #words = new Map<string, string>();

  constructor(place: Place) {
    for (const url of [place.databaseUrl, place.redisUrl]) {
      const { protocol, password } = new URL(url);
      if (password !== "") this.#words.set(decodeURIComponent(password), `the password of ${protocol}`);
    }
  }

  /** A text for one place in a payload: a word that nothing could recognise, and every secret. */
  plant(where: string): string {
    return [this.word(where), ...SECRETS].join(" ");
  }

  /** The word alone, for places that take no more. */
  word(where: string): string {
    const word = `canary${where.replaceAll(/[^a-z]/gi, "")}`;
    this.#words.set(word, where);
    return word;
  }

  /**
   * What of it stands in a text. `log`: nothing may. `report`: a command was asked for orders and events, whose identifiers are
   * its answer. `payload`: it was asked for the events themselves, and only passwords may not be there.
   */
  foundIn(text: string, kind: "log" | "report" | "payload" = "log"): string[] {
    const found: string[] = [];
    const note = (what: string, at: number): void => {
      if (at !== -1) found.push(`${what}: …${text.slice(Math.max(0, at - 150), at + 150)}…`);
    };
    for (const [what, pattern] of LOOKS) if (kind === "log") note(what, text.search(pattern));
    for (const [word, where] of this.#words) {
      if (kind !== "payload" || where.startsWith("the password")) note(where, text.indexOf(word));
    }
    return found;
  }
}

/** Puts canaries into every place of jobs and lanes; answers with the jobs that have to end. */
async function plantPayloads(place: Place, intruder: Intruder, canaries: Canaries): Promise<PlantedJob[]> {
  const jobs: PlantedJob[] = [];
  const job = async (data: string, fields: Readonly<Record<string, string>> = {}): Promise<void> => {
    jobs.push(await intruder.plantJob({ data, fields }));
  };
  const json = (where: string): string => JSON.stringify(canaries.plant(where));
  await job(canaries.plant("a job that is not JSON"));
  await job(json("a text as a job"));
  for (const name of ["specversion", "id", "source", "type", "lcid"]) {
    const value = `[${json(`an unusable ${name}`)}]`;
    await job(eventText({ lcid: "A", id: name }, [[name, value]]));
  }
  await job(eventText({ lcid: "A", id: "options" }), {
    opts: canaries.plant("options"),
    parent: canaries.plant("a parent"),
  });
  for (const [id, over] of [
    ["note", ["data", soundData("n", ["note", json("a value")], [canaries.plant("a key"), "1"])]],
    [
      "bad",
      [
        "data",
        soundData("b", [canaries.plant("a faulty key"), "1e400"], [canaries.word("a speakable key"), "1"]),
      ],
    ],
    ["amount", ["data", soundData("c", ["amount", json("an amount")])]],
    ["text", ["data", json("a text as data")]],
    ["extension", [canaries.plant("the name of an extension"), json("an extension")]],
    ["time", ["time", json("a time")]],
    ["forged", ["invalidpayload", `{"field":${json("a forged field")},"rule":${json("a forged rule")}}`]],
  ] as const) {
    await job(eventText({ lcid: "A", id }, [[over[0], over[1]]]));
  }
  await intruder.plantRequest("A", { key: requestKey(), stored: stamped(canaries.plant("a body")) });
  await intruder.plantRequest("A", { key: requestKey(), stored: canaries.plant("a text without a time") });
  await intruder.redis.hset(intruder.laneKey("done", "A"), "x", canaries.plant("an outcome"));
  await intruder.redis.hset(intruder.laneKey("seat", "A"), "x", canaries.plant("a seat"));
  for (const part of ["lock", "wait", "body"] as const) {
    await intruder.redis.set(intruder.laneKey(part, `torn-${part}`), canaries.plant(`a stray ${part}`));
  }
  await publish(
    place,
    ["lock", "wait", "body"].flatMap((part) => eventsOf(`torn-${part}`, 1)),
  );
  return jobs;
}

/** Events that fail under names that are secrets: the lines that the fleet writes about single events. */
async function plantIdentifiers(place: Place, canaries: Canaries): Promise<void> {
  for (const [index, lcid] of LCIDS.entries()) {
    const base = { specversion: "1.0", id: SECRETS[index] ?? "", source: SECRETS.at(-index) ?? "", lcid };
    const data = (ref: string, amount = 10): object => ({ authorizationId: ref, amount, currency: "JPY" });
    const loud = {
      ...base,
      type: "payment.authorized",
      data: data(`loud-${canaries.word(`a decision ${"abcd"[index]}`)}`),
    };
    await publish(place, [...eventsOf(lcid, 1), loud, { ...loud, data: data("again", 11) }]);
    await publish(place, [{ ...base, id: `unknown ${lcid}`, type: `unknown.${SECRETS[1]}` }]);
  }
}

/** A database that repeats what it was given, in errors of the event, of nobody, and of a function. */
async function plantRefusals(place: Place, canaries: Canaries): Promise<readonly string[]> {
  await poolOf(place).query(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.ref like '22P02%' then raise exception 'invalid input: "%"', new.ref using errcode = '22P02'; end if;
      if new.ref like '23514%' then raise exception 'not %', new.ref using errcode = '23514', detail = new.ref; end if;
      if new.ref like 'P0001%' then raise exception 'not %', new.ref using hint = new.ref; end if;
      return new;
    end $$;
    create trigger refuse before insert on order_refs for each row execute function refuse()`);
  const refusals = { "22P02": "of a value", "23514": "of a rule", P0001: "of a function" };
  const lcids: string[] = [];
  for (const [state, where] of Object.entries(refusals)) {
    const lcid = `refused-${state}`;
    const [first, second] = eventsOf(lcid, 2);
    const data = {
      authorizationId: `${state}-${canaries.word(`a refusal ${where}`)}`,
      amount: 10,
      currency: "JPY",
    };
    await publish(place, [
      { ...first, id: `${lcid}-0`, lcid },
      { ...second, id: `${lcid}-1`, lcid, data },
    ]);
    lcids.push(lcid);
  }
  return lcids;
}

interface Run {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly said: string;
}

async function junban(env: Environment, ...args: readonly string[]): Promise<Run> {
  const tree = await startProcess({
    command: process.execPath,
    args: [JUNBAN, ...args],
    env: { PATH: process.env["PATH"], ...env },
  });
  const { code } = await tree.exited;
  return { args, code, said: tree.stdout() + tree.stderr() };
}

/** Everything that a worker says about itself. */
async function wordsOf(worker: WorkerProcess): Promise<string> {
  const pages = await Promise.all(["/readyz", "/livez", "/metrics"].map((path) => worker.get(path)));
  return [worker.tree.stdout(), worker.tree.stderr(), ...pages.map(({ text }) => text)].join("\n");
}

/** What is kept about failures, apart from the events themselves. */
async function reasonsKept(place: Place, intruder: Intruder): Promise<string> {
  const kept: string[] = [];
  for (const queue of ["{payment}", "{inventory}", "{line-item}", "{cancel}"]) {
    const key = (name: string): string => `${place.prefix}:${queue}:${name}`;
    for (const id of await intruder.redis.zrange(key("failed"), "0", "-1")) {
      kept.push(...(await intruder.redis.hmget(key(id), "failedReason", "stacktrace")).map(String));
    }
    kept.push(JSON.stringify(await intruder.redis.xrange(key("events"), "-", "+")));
  }
  const { rows } = await poolOf(place).query("SELECT reason, detail, worker FROM order_events");
  return [...kept, JSON.stringify(rows)].join("\n");
}

async function away(
  worker: WorkerProcess,
  service: string,
  { cut, heal }: { cut: () => void; heal: () => void },
): Promise<void> {
  cut();
  await worker.tree.waitForLine(`${service} is away`, { withinMs: 60_000 });
  await worker.get("/readyz");
  heal();
  await worker.tree.waitForLine(`${service} is back`, { withinMs: 60_000 });
}

test(
  "no secret of a payload or an address is found in logs, probes, metrics, reasons and reports, whatever fails",
  async () => {
    const place = await freshPlace();
    const canaries = new Canaries(place);
    const intruder = new Intruder(place);
    const redis = await startProxy({ url: place.redisUrl });
    const postgres = await startProxy({ url: place.databaseUrl });
    onTestFinished(() => Promise.all([redis.close(), postgres.close()]).then(() => undefined));
    const refused = await plantRefusals(place, canaries);
    const proxied = { ...place, redisUrl: redis.url, databaseUrl: postgres.url };
    const worker = await startWorker(proxied, { ...SHORT_LEASE, LOG_LEVEL: "trace" }, "canaries");
    await publish(place, eventsOf("A", 1));
    const jobs = await plantPayloads(place, intruder, canaries);
    await plantIdentifiers(place, canaries);
    await eventually(
      async () => expect(await Promise.all(jobs.map((job) => intruder.endOf(job)))).not.toContain(null),
      { withinMs: 60_000, everyMs: 100 },
    );
    await worker.tree.waitForLine("could not be settled", { withinMs: 60_000 });
    await away(worker, "Redis", redis);
    const later = publish(place, eventsOf("later", 1));
    await away(worker, "Postgres", postgres);
    await later;
    await poolOf(place).query("DROP TRIGGER refuse ON order_refs");
    await eventually(
      async () => {
        const rows = await rowsOf(place);
        const outcomes = refused.map((lcid) => rows.filter((row) => row.lcid === lcid)[1]?.outcome);
        expect(outcomes).toEqual(["failed", "failed", "applied"]);
        expect(rows.filter(({ outcome }) => outcome === "failed")).toHaveLength(2 + LCIDS.length);
      },
      { withinMs: 60_000, everyMs: 100 },
    );

    expect(canaries.foundIn(await wordsOf(worker))).toEqual([]);
    expect(canaries.foundIn(await reasonsKept(place, intruder), "report")).toEqual([]);
    const questions = [
      ["report", "dlq"],
      ["report", "order", LCIDS[0] ?? "", "--history"],
      ["payload", "dlq", "--json"],
      ["payload", "event", "/hostile", "bad"],
    ] as const;
    await Promise.all(
      questions.map(async ([kind, ...args]) => {
        const { code, said } = await junban(environmentOf(place), ...args);
        expect([args, code, canaries.foundIn(said, kind)]).toEqual([args, 0, []]);
      }),
    );
    // Seen, and not only silent.
    expect(worker.tree.stdout()).toContain("an event failed");
    expect(worker.tree.stdout()).toContain("came again with another body");
  },
  LIMIT_MS,
);

test(
  "a file's refused lines, a start without success and a wrong variable tell nothing of what they hold",
  async () => {
    const place = await freshPlace();
    const canaries = new Canaries(place);
    const folder = await mkdtemp(join(tmpdir(), "junban-canaries-"));
    onTestFinished(async () => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "events.ndjson");
    const lines = [
      canaries.plant("a line that is not JSON"),
      JSON.stringify([canaries.plant("a list as a line")]),
      objectText([
        ["specversion", '"1.0"'],
        ["id", JSON.stringify(`\n${canaries.plant("an id in a file")}`)],
      ]),
      eventText({ lcid: "A", id: "1" }, [
        ["data", soundData("n", [canaries.plant("a key in a file"), "1e400"])],
      ]),
    ];
    await writeFile(file, lines.join("\n"));
    const wrong = (url: string, where: string): string => {
      const changed = new URL(url);
      changed.password = canaries.word(where);
      return changed.href;
    };
    const env = environmentOf(place);
    const nowhere = {
      DATABASE_URL: wrong("postgres://u:p@127.0.0.1:1/x", "nowhere"),
      REDIS_URL: wrong("redis://:p@127.0.0.1:1", "nowhere too"),
    };
    const published = junban(env, "publish", file);
    const refused = Promise.all([
      junban({ ...env, REDIS_URL: wrong(place.redisUrl, "a wrong password") }, "status"),
      junban({ ...env, ...nowhere }, "publish", file, "--patience", "1s"),
    ]);
    const starts = [
      ["waiting for Redis", { REDIS_URL: wrong(place.redisUrl, "another wrong password") }],
      ["waiting for Postgres", { DATABASE_URL: wrong(place.databaseUrl, "a third wrong password") }],
    ] as const;
    await Promise.all(
      starts.map(async ([what, over]) => {
        const tree = await launchWorker({ ...env, ...over, LOG_LEVEL: "trace" });
        await tree.waitForLine(what, { withinMs: 60_000 });
        tree.signal("SIGTERM");
        await tree.exited;
        expect(canaries.foundIn(tree.stdout() + tree.stderr())).toEqual([]);
      }),
    );
    for (const { args, code, said } of await refused) {
      expect([args, code, canaries.foundIn(said)]).toEqual([args, 3, []]);
    }
    const { code, said } = await published;
    expect([code, canaries.foundIn(said)]).toEqual([1, []]);
    expect(said).toContain("line 4: accepted, but will be rejected");
    const broken = await launchWorker({
      DATABASE_URL: `postgres://u:${canaries.word("a broken address")}@host:port/x`,
      REDIS_URL: `redis://:${canaries.word("another broken address")}@host/none`,
      JUNBAN_PREFIX: `redis://:${canaries.word("an address in place of a prefix")}@host`,
      JUNBAN_LEASE_MS: `Bearer ${canaries.word("a token in place of a number")}`,
      JUNBAN_UNKNOWN: canaries.word("an unknown variable"),
    });
    expect(await broken.exited).toEqual({ code: 2, signal: null });
    expect(canaries.foundIn(broken.stdout() + broken.stderr())).toEqual([]);
    expect(broken.stderr()).toContain("JUNBAN_PREFIX");
  },
  LIMIT_MS,
);
