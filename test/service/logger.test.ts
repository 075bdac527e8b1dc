import { Writable } from "node:stream";
import { type Logger, createLogger, withoutPassword } from "@junban/service";
import { expect, test } from "vitest";

function recorded(level: "info" | "trace" = "trace"): {
  logger: Logger;
  text: () => string;
  entries: () => Record<string, unknown>[];
} {
  let text = "";
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  return {
    logger: createLogger({ name: "test", level, destination }),
    text: () => text,
    entries: () =>
      text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const CANARY = "canary-4711";

test("an entry says who, when, how loud and what", () => {
  const { logger, entries } = recorded("info");
  logger.debug("quiet");
  logger.info({ lcid: "A-1", depth: 3, amount: 12n }, "queued");
  expect(entries()).toHaveLength(1);
  expect(entries()[0]).toMatchObject({
    name: "test",
    level: "info",
    msg: "queued",
    lcid: "A-1",
    depth: 3,
    amount: "12",
  });
  expect(Date.parse(String(entries()[0]?.["time"]))).not.toBeNaN();
});

test.each([
  "data",
  "payload",
  "body",
  "event",
  "password",
  "api_key",
  "Authorization",
  "connectionString",
  "args",
  "raw",
])("a field called %s is hidden at any depth, on every level, in children too", (name) => {
  const { logger, text } = recorded();
  logger.trace({ [name]: CANARY });
  logger.info({ job: { id: "1", [name]: { deep: CANARY } } }, "sentence");
  logger.fatal({ list: [{ inner: { [name]: [CANARY] } }] });
  logger.child({ [name]: CANARY, lane: { [name]: CANARY } }).warn("from a child");
  logger.info("formatted %o", { [name]: CANARY });
  expect(text()).not.toContain(CANARY);
  expect(text().match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(5);
});

test("passwords in addresses are hidden in fields, in messages and in errors", () => {
  const { logger, text } = recorded();
  const url = `postgres://app:${CANARY}@db.internal:5432/orders?sslmode=require`;
  logger.info(
    { databaseUrl: url, note: `before ${url} after`, redis: new URL(`redis://:${CANARY}@r:6379`) },
    `using ${url}`,
  );
  logger.error(new Error(`connect ${url}`));
  logger.error({ err: new Error("outer", { cause: new Error(`inner ${url}`) }) }, "failed");
  logger.warn(`with an at in it: redis://u:p@${CANARY}@host:6379/0`);
  expect(text()).not.toContain(CANARY);
  expect(text()).toContain("db.internal");
});

test("what libraries attach to their errors is left out, what helps an operator stays", () => {
  const { logger, text, entries } = recorded();
  const failure = Object.assign(
    new Error('duplicate key value violates unique constraint "order_events_pkey"'),
    {
      code: "23505",
      detail: `Key (source, event_id)=(/payments, ${CANARY}) already exists.`,
      constraint: "order_events_pkey",
      command: { name: "evalsha", args: [CANARY] },
      query: { values: [CANARY] },
    },
  );
  logger.error(failure);
  logger.error({ err: failure }, "insert failed");
  expect(text()).not.toContain(CANARY);
  expect(entries()[0]).toMatchObject({
    msg: failure.message,
    err: { type: "Error", message: failure.message, code: "23505", constraint: "order_events_pkey" },
  });
  expect(entries()[1]).toMatchObject({ msg: "insert failed", err: { code: "23505" } });
});

test("values that Postgres quotes in a data exception are hidden, in the message and in the stack", () => {
  const { logger, text } = recorded();
  const failure = Object.assign(new Error(`invalid input syntax for type bigint: "${CANARY}"`), {
    code: "22P02",
  });
  logger.error(failure);
  logger.error({ err: failure });
  logger.error(new AggregateError([failure], "several"));
  expect(text()).not.toContain(CANARY);
  expect(text()).toContain("invalid input syntax for type bigint");
});

test("card numbers and e-mail addresses in free text are hidden, timestamps are not", () => {
  const { logger, text } = recorded();
  logger.error(new Error("declined 4111 1111 1111 1111 for jane.doe+x@example.co.jp at 1764442342123"));
  logger.info("card 5500-0000-0000-0004");
  expect(text()).not.toMatch(/4111|5500|jane|example/);
  expect(text()).toContain("1764442342123");
});

test("an entry is bounded however large and deep its fields are, cycles included", () => {
  const { logger, text } = recorded();
  const cyclic: Record<string, unknown> = { name: "loop" };
  cyclic["self"] = cyclic;
  logger.info({
    cyclic,
    long: "x".repeat(1_000_000),
    many: Array.from({ length: 100_000 }, (_, index) => index),
    wide: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index])),
    bytes: Buffer.alloc(100_000),
  });
  expect(text().length).toBeLessThan(20_000);
});

test("what a cut went through is not shown by half", () => {
  const { logger, text } = recorded();
  for (let length = 1_950; length < 2_000; length++) {
    const before = "x ".repeat(length / 2);
    logger.info(`${before}postgres://app:${CANARY}-${"p".repeat(100)}@db`);
    logger.info(`${before}jane.${CANARY}@example.com and more`.repeat(2));
    logger.info({ note: `${"y".repeat(length)}:postgres://app:${CANARY}-${"p".repeat(100)}@db` });
    logger.info(`${before}4111 1111 1111 1111 and more`.repeat(2));
  }
  expect(text()).not.toMatch(/canary|4111/);
});

test.each([
  ["postgres://app:secret@db:5432/orders", "postgres://app:***@db:5432/orders"],
  ["redis://:secret@cache:6379/0", "redis://:***@cache:6379/0"],
  ["rediss://cache:6379", "rediss://cache:6379"],
  ["redis://secret@cache:6379/0", "redis://***@cache:6379/0"],
  ["connect to rediss://secret@cache now", "connect to rediss://***@cache now"],
  ["postgres://app@db/orders", "postgres://app@db/orders"],
  ["postgres://db/orders?user=app&password=secret", "postgres://db/orders?user=app&password=***"],
  ["connect to redis://u:secret@cache:port now", "connect to redis://u:***@cache:port now"],
])("withoutPassword turns %s into %s", (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});

const CARDS = [
  "4111111111111111",
  "4111 1111 1111 1111",
  "4111-1111-1111-1111",
  "5500.0000.0000.0004",
  "378282246310005",
];

test.each([
  ...CARDS,
  ...CARDS.map((card) => `order_${card}`),
  "jane.doe+x@example.co.jp",
  "order/jane@example.com/2",
  "Bearer abcdefgh12345678",
  "authorization: basic Y2FuYXJ5OmNhbmFyeQ==",
  "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.c2lnbmF0dXJl",
  "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
  "host=db user=app password=hunter2hunter2",
  "Server=db;User=app;Pwd=hunter2hunter2;",
  '"api_key": "hunter2hunter2"',
  "postgres://app:hunter2hunter2@db/orders",
])("%j is not shown, whatever an identifier, a message or an error makes of it", (secret) => {
  const { logger, text } = recorded();
  logger.info({ lcid: secret, source: `/x/${secret}`, nested: { ids: [secret] } }, `about ${secret} here`);
  logger.warn({ error: new Error(`refused ${secret}`) }, "in short");
  logger.error({ err: new Error(secret, { cause: new Error(secret) }) }, "in full");
  logger.child({ lcid: secret }).info("from a child");
  for (const word of secret.match(
    /\d{8,}|hunter2hunter2|jane|abcdefgh|Y2FuY|eyJzdWIi|4eC39|1111 1111|1111-1111|0000\.0000/g,
  ) ?? []) {
    expect(text()).not.toContain(word);
  }
});

test("what only looks like a card number stays: moments, dates, most order numbers", () => {
  const { logger, text } = recorded();
  const ids = [
    "1764442342123",
    "2024112900001235",
    "ord-00000000000018",
    "7992739871300005",
    "4111111111111112",
  ];
  logger.info({ ids }, "as they are");
  for (const id of ids) expect(text()).toContain(id);
});

test("an error told in short is one line, without what it quotes", () => {
  const { logger, entries } = recorded();
  const refused = Object.assign(new Error(`invalid input syntax for type bigint: "${CANARY}"`), {
    code: "22P02",
  });
  logger.warn({ error: refused }, "sentence");
  logger.warn(
    { error: new Error(`ERR unknown command 'x', with args beginning with: '${CANARY}' '2'`) },
    "sentence",
  );
  logger.warn({ error: Object.assign(new Error(`no ${CANARY} here`), { code: "P0001" }) }, "sentence");
  logger.warn({ error: "a text" }, "sentence");
  expect(entries().map(({ error }) => error)).toEqual([
    'invalid input syntax for type bigint: "…"',
    "ERR unknown command 'x'",
    "(what a function of the database raised)",
    "a text",
  ]);
});
