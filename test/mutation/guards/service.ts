import type { Guard } from "./guard.ts";

/** What every process needs: no secrets in its logs, a configuration that is checked, and an end that comes. */

const SRC = "packages/service/src";
const LOGGER = "test/service/logger.test.ts";
const CONFIG = "test/service/config.test.ts";
const SHUTDOWN = "test/service/shutdown.test.ts";
const HTTP = "test/service/http-server.test.ts";

export const SERVICE_GUARDS: readonly Guard[] = [
  {
    promise: "payloads and secrets under known names stand in no log",
    file: `${SRC}/redaction.ts`,
    guard: "if (HIDDEN_NAMES.has(plainName)) return REDACTED;",
    without: "",
    tests: [{ file: LOGGER, title: "is hidden at any depth" }],
  },
  {
    promise: "fields that a logger repeats are redacted as well",
    file: `${SRC}/logger.ts`,
    guard: "original.call(this, redactedFields(bindings), ...rest)",
    without: "original.call(this, bindings, ...rest)",
    tests: [{ file: LOGGER, title: "is hidden at any depth" }],
  },
  {
    promise: "passwords in addresses stand in no log",
    file: `${SRC}/secrets.ts`,
    guard: 'if (parsed.password !== "") parsed.password = HIDDEN;',
    without: "",
    tests: [{ file: LOGGER, title: "passwords in addresses are hidden" }],
  },
  {
    promise: "a password in the place of a name stands in no log",
    file: `${SRC}/secrets.ts`,
    guard: "if (isPassword) parsed.username = HIDDEN;",
    without: "",
    tests: [{ file: LOGGER, title: "withoutPassword turns" }],
  },
  {
    promise: "passwords in the middle of a text stand in no log",
    file: `${SRC}/redaction.ts`,
    guard: "withoutPasswords(beginningOf(text, MAX_TEXT))",
    without: "beginningOf(text, MAX_TEXT)",
    tests: [{ file: LOGGER, title: "passwords in addresses are hidden" }],
  },
  {
    promise: "card numbers stand in no log",
    file: `${SRC}/secrets.ts`,
    guard: "return sum % 10 === 0;",
    without: "return sum < 0;",
    tests: [{ file: LOGGER, title: "card numbers and e-mail addresses" }],
  },
  {
    promise: "values that Postgres quotes stand in no log",
    file: `${SRC}/redaction.ts`,
    guard: 'state.startsWith("22") ?',
    without: 'state.startsWith("-") ?',
    tests: [{ file: LOGGER, title: "values that Postgres quotes in a data exception" }],
  },
  {
    promise: "a log entry is bounded",
    file: `${SRC}/redaction.ts`,
    guard: 'if (depth >= MAX_DEPTH) return "[too deep]";',
    without: "",
    tests: [{ file: LOGGER, title: "an entry is bounded however large and deep" }],
  },
  {
    promise: "Postgres' limits stay below the lease",
    file: `${SRC}/config.ts`,
    guard: "if (settings[key] < settings.leaseMs) continue;",
    without: "if (settings[key] > 0) continue;",
    tests: [{ file: CONFIG, title: "has to stay below the lease" }],
  },
  {
    promise: "all slots together hold at least twice the batch",
    file: `${SRC}/config.ts`,
    guard: "if (slots < 2 * settings.laneBatch) {",
    without: "if (slots < 0) {",
    tests: [{ file: CONFIG, title: "all slots together are at least twice the batch" }],
  },
  {
    promise: "a head is not given up before it was served alone",
    file: `${SRC}/config.ts`,
    guard: "if (settings.crashGiveUp < settings.crashAlone) {",
    without: "if (settings.crashGiveUp < 0) {",
    tests: [{ file: CONFIG, title: "a head is not given up before it was ever served alone" }],
  },
  {
    promise: "a misspelt variable is a problem",
    file: `${SRC}/config.ts`,
    guard: "  problems.push(...unknownNames(env, options.alsoKnown ?? []));\n",
    without: "",
    tests: [{ file: CONFIG, title: "is a problem that names" }],
  },
  {
    promise: "the password of a bad address is never repeated",
    file: `${SRC}/config.ts`,
    guard: 'isAddress(value) ? shown(withoutPassword(value)) : "(hidden)"',
    without: "shown(value)",
    tests: [{ file: CONFIG, title: "is never repeated" }],
  },
  {
    promise: "a second signal ends a process at once",
    file: `${SRC}/shutdown.ts`,
    guard: "if (before !== undefined) {",
    without: "if (before === null) {",
    tests: [{ file: SHUTDOWN, title: "a second signal exits at once, not with 0" }],
  },
  {
    promise: "the echo of a signal is no second one",
    file: `${SRC}/shutdown.ts`,
    guard: "if (before?.name === name && nowMs - before.atMs < ECHO_MS) return;",
    without: "",
    tests: [{ file: SHUTDOWN, title: "the same signal again at once is an echo" }],
  },
  {
    promise: "an end takes no longer than its grace",
    file: `${SRC}/shutdown.ts`,
    guard: "await Promise.race([Promise.resolve(step.run(grace)), overdue])",
    without: "await step.run(grace)",
    hangs: true,
    tests: [{ file: SHUTDOWN, title: "a step that hangs is left when the grace is over" }],
  },
  {
    promise: "a step of an end that fails does not keep the others from running",
    file: `${SRC}/shutdown.ts`,
    guard: "        isClean = false;\n",
    without: "        throw error;\n",
    tests: [{ file: SHUTDOWN, title: "a step that fails does not keep the others from running" }],
  },
  {
    promise: "an error that nobody caught ends the process",
    file: `${SRC}/shutdown.ts`,
    guard: '"an error that nobody caught: ending at once");\n    this.#host.exit(EXIT.wrong);',
    without: '"an error that nobody caught: ending at once");',
    tests: [{ file: SHUTDOWN, title: "an error that nobody caught is logged and ends the process" }],
  },
  {
    promise: "health and metrics listen on the loopback unless told otherwise",
    file: `${SRC}/http-server.ts`,
    guard: 'host = "127.0.0.1"',
    without: 'host = "0.0.0.0"',
    tests: [{ file: HTTP, title: "listens on the loopback unless told otherwise" }],
  },
  {
    promise: "metrics say whether a process is ready",
    file: `${SRC}/metrics.ts`,
    guard: "isReady ? 1 : 0",
    without: "1",
    tests: [{ file: HTTP, title: "ready says so at each scrape" }],
  },
  {
    promise: "a check that hangs is answered in time",
    file: `${SRC}/http-server.ts`,
    guard: "return await Promise.race([prepare(), bound]);",
    without: "return await prepare();",
    hangs: true,
    tests: [{ file: HTTP, title: "a check that hangs is answered in time" }],
  },
  {
    promise: "many probes at once are one question",
    file: `${SRC}/http-server.ts`,
    guard: "running ??= bounded(",
    without: "running = bounded(",
    tests: [{ file: HTTP, title: "many probes at once are one question" }],
  },
  {
    promise: "waiting for a service ends at its limit",
    file: `${SRC}/reach.ts`,
    guard: "if (nowMs >= deadlineMs) {",
    without: "if (nowMs < 0) {",
    hangs: true,
    tests: [{ file: "test/service/reach.test.ts", title: "gives up at the limit" }],
  },
  {
    promise: "a service that is there and will not do is not waited for",
    file: `${SRC}/reach.ts`,
    guard: "    if (options.isFinal?.(failure) === true) throw failure;\n",
    without: "",
    hangs: true,
    tests: [{ file: "test/service/reach.test.ts", title: "says that the service is there and will not do" }],
  },
];
