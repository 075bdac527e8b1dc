import { startRedis } from "@junban/sandbox";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { endingOf } from "../../apps/cli/src/exit.ts";
import { createProgram } from "../../apps/cli/src/program.ts";
import { openShell, placed, type Shell } from "./junban.ts";

describe("exit codes and messages", () => {
  let shell: Shell;
  beforeAll(async () => {
    shell = await openShell();
  });

  test("an unknown command ends with 2", async () => {
    const run = await shell.junban(["nonsense"]);
    expect(run.code).toBe(2);
    expect(run.err).toContain("unknown command");
  });

  test("help ends with 0 and tells the exit codes", async () => {
    const run = await shell.junban(["--help"]);
    expect(run.code).toBe(0);
    expect(run.out).toContain("Exit codes");
  });

  test("the version is printed, and each subcommand's help ends with 0", async () => {
    expect((await shell.junban(["--version"])).out).toMatch(/^\d+\.\d+\.\d+\n$/u);
    expect((await shell.junban(["dlq", "replay", "--help"])).code).toBe(0);
    expect((await shell.junban(["help", "dlq", "replay"])).out).toMatch(/^Usage: junban dlq replay /u);
    expect((await shell.junban(["help", "dlq"])).out).toMatch(/^Usage: junban dlq /u);
    const stray = await shell.junban(["dlq", "foo"]);
    expect([stray.code, stray.err]).toEqual([2, expect.stringMatching(/^error: unknown command 'foo'\n/u)]);
  });

  test("what deletes or changes much is refused without --yes where nobody can be asked", async () => {
    const grave = [
      ["purge", "--older-than", "1d"],
      ["dlq", "drop", "job:payment", "7", "--reason", "a test"],
    ];
    for (const args of grave) {
      const run = await shell.junban(args);
      expect(run.code, args.join(" ")).toBe(2);
      expect(run.err).toContain("add --yes if that is meant");
    }
  });

  test("a reason for an event that is named is refused, since it would choose nothing", async () => {
    const args = ["dlq", "replay", "/shop", "e-1", "--reason", "OVER_CAPTURE"];
    const refusal: unknown = await createProgram({})
      .parseAsync(args, { from: "user" })
      .catch((error: unknown) => error);
    const { code, lines } = endingOf(refusal, { redis: "", postgres: "" });
    expect(code).toBe(2);
    expect(lines[0]).toContain("--reason chooses among --all");
  });

  test("a variable with a bad value ends with 2 and is named with its value and what is allowed", async () => {
    const run = await shell.junban(["status"], { env: { JUNBAN_LEASE_MS: "soon" } });
    expect(run.code).toBe(2);
    expect(run.err).toMatch(/JUNBAN_LEASE_MS.*soon.*1000…300000/u);
  });

  test("an address that is not set ends with 2 and is named", async () => {
    const run = await shell.junban(["order", "A-1"], { env: { DATABASE_URL: "" } });
    expect(run.code).toBe(2);
    expect(run.err).toContain("DATABASE_URL");
  });

  test("Postgres away ends with 3, naming the address without its password", async () => {
    const run = await shell.junban(["order", "A-1"], {
      env: { DATABASE_URL: "postgres://u:sesame@127.0.0.1:1/x" },
    });
    expect(run.code).toBe(3);
    expect(run.err).toContain("Postgres at postgres://u:***@127.0.0.1:1/x");
    expect(run.err + run.out).not.toContain("sesame");
  });

  test("migrate and its status, too, end with 3 when Postgres is away, and say once a second that they wait", async () => {
    for (const args of [["migrate"], ["migrate", "status"]]) {
      const run = await shell.junban(args, { env: { DATABASE_URL: "postgres://u:sesame@127.0.0.1:1/x" } });
      expect(run.code, args.join(" ")).toBe(3);
      expect(run.err).toMatch(/waiting for Postgres at postgres:\/\/u:\*\*\*@127\.0\.0\.1:1\/x/u);
      expect(run.err + run.out).not.toContain("sesame");
    }
  });

  test("a database that this Redis does not have ends with 3, and nothing goes to another one", async () => {
    const run = await shell.junban(["publish", "-", "--patience", "1s"], {
      input: placed("A"),
      env: { REDIS_URL: `${shell.redisUrl.replace(/\/\d*$/u, "")}/9999` },
    });
    expect(run.code).toBe(3);
    expect(run.err).toContain("DB index is out of range");
    const status = (await shell.junban(["status", "--json"])).json() as { lanes: { requests: number } };
    expect(status.lanes.requests).toBe(0);
  });

  test("Redis away ends with 3, naming the address without its password", async () => {
    const run = await shell.junban(["status"], { env: { REDIS_URL: "redis://:sesame@127.0.0.1:1" } });
    expect(run.code).toBe(3);
    expect(run.err).toContain("Redis at redis://:***@127.0.0.1:1");
    expect(run.err + run.out).not.toContain("sesame");
  });

  test("a server that is there and does not let in ends with 3 at once, in its own words and without the password", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const wrong = redis.url.replace(redis.password, "sesame");
    const nameless = redis.url.replace(`:${redis.password}@`, "");
    const nowhere = shell.databaseUrl.replace(/\/[^/]*$/u, "/nowhere");
    for (const { args, env, says } of [
      { args: ["status"], env: { REDIS_URL: wrong }, says: /^Redis at redis:\S+ refuses: WRONGPASS/u },
      { args: ["status"], env: { REDIS_URL: nameless }, says: /^Redis at redis:\S+ refuses: NOAUTH/u },
      { args: ["publish", "-"], env: { REDIS_URL: wrong }, says: /^Redis at redis:\S+ refuses: WRONGPASS/mu },
      {
        args: ["order", "A"],
        env: { DATABASE_URL: nowhere },
        says: /^Postgres at \S+ refuses: database "nowhere" does not exist/u,
      },
    ]) {
      const run = await shell.junban(args, { input: placed("A"), env });
      expect(run.code, args.join(" ")).toBe(3);
      expect(run.err).toMatch(says);
      expect(run.err).not.toMatch(/waiting for|did not answer/u);
      expect(run.err + run.out).not.toContain("sesame");
    }
    const doctor = await shell.junban(["doctor"], { env: { REDIS_URL: wrong } });
    expect(doctor.code).toBe(3);
    expect(doctor.out).toMatch(/WRONGPASS .*\[REDIS_DENIES\]/u);
  });

  test("a Postgres that takes no further connection is not told as one that is silent", async () => {
    const client = new pg.Client({ connectionString: shell.databaseUrl });
    await client.connect();
    onTestFinished(() => client.end());
    const crowded = new URL(shell.databaseUrl);
    crowded.username = `crowded${crowded.pathname.slice(1)}`;
    await client.query(
      `create role ${client.escapeIdentifier(crowded.username)} login connection limit 0 password 'x'`,
    );
    crowded.password = "x";
    const env = { DATABASE_URL: crowded.href };
    const order = await shell.junban(["order", "A"], { env });
    expect(order.code).toBe(3);
    expect(order.err).toMatch(/^Postgres at \S+ refuses: too many connections for role/mu);
    const doctor = await shell.junban(["doctor"], { env });
    expect(doctor.code).toBe(3);
    expect(doctor.out).toMatch(/refuses another connection: .*\[POSTGRES_CONNECTIONS_USED_UP\]/u);
  });

  test("an address that is empty is said to be empty", async () => {
    const run = await shell.junban(["status"], { env: { REDIS_URL: "" } });
    expect(run.code).toBe(2);
    expect(run.err).toContain("REDIS_URL is empty; allowed: an address");
  });

  test("status says when nothing was ever used under the prefix", async () => {
    const unused = /^no queue was ever used under the prefix nobodys in this Redis/mu;
    const run = await shell.junban(["status"], { env: { JUNBAN_PREFIX: "nobodys" } });
    expect([run.code, unused.test(run.err)]).toEqual([0, true]);
    await shell.junban(["publish", "-"], { input: placed("USED") });
    expect((await shell.junban(["status"])).err).toBe("");
  });

  test("an order, an event and an audited order that do not exist end with 1, and with a document for scripts", async () => {
    for (const { args, told, document } of [
      { args: ["order", "NO-1"], told: /there is no order NO-1: .* junban lane NO-1$/mu, document: null },
      {
        args: ["event", "/shop", "no"],
        told: /no event no of \/shop is on record: .* junban lane LCID$/mu,
        document: null,
      },
      {
        args: ["audit", "NO-1"],
        told: /no such order/u,
        document: { orders: 0, drift: 0, drifted: [], missing: ["NO-1"], purged: [] },
      },
    ]) {
      const run = await shell.junban(args);
      expect(run.code, args.join(" ")).toBe(1);
      expect(run.out + run.err).toMatch(told);
      const asJson = await shell.junban([...args, "--json"]);
      expect([asJson.code, asJson.json()]).toEqual([1, document]);
    }
  });

  test("what cannot be the name of an order ends with 2 and says what one looks like, without repeating all of it", async () => {
    for (const args of [
      ["order", "A%"],
      ["audit", "A-1", "x".repeat(4_000)],
    ]) {
      const run = await shell.junban(args);
      expect(run.code, args.join(" ")).toBe(2);
      expect(run.err).toContain("names no order: a name has 1 to 128 characters of ");
      expect(run.err.length).toBeLessThan(1_000);
    }
  });

  test("no argument is repeated that is longer than anything can be, nor put on record", async () => {
    const run = await shell.junban(["dlq", "replay", "/shop", "x".repeat(5_000)]);
    expect(run).toMatchObject({ code: 2, out: "", err: "no argument may have more than 4096 characters\n" });
  });

  test("a duration or a number nobody can mean ends with 2 and says what to write", async () => {
    for (const args of [
      ["wait-idle", "--timeout", "soon"],
      ["held", "--limit", "0"],
      ["purge", "--older-than", "-1d"],
      ["purge", "--older-than", "400", "--yes"],
      ["held", "--due-within", "2"],
      ["dlq", "replay"],
    ]) {
      const run = await shell.junban(args);
      expect(run.code, args.join(" ")).toBe(2);
      expect(run.err.length).toBeGreaterThan(0);
    }
  });
});
