import type { Guard } from "./guard.ts";

/** Who gets in, who may act, what a page makes of what it is given, and what is on record of it. */

const SRC = "apps/console/src";
const ACCESS = "test/console/access.test.ts";
const ACTIONS = "test/console/actions.test.ts";
const ACTS = "test/operations/acts.test.ts";
const ERRANDS = "test/console/errands.test.ts";
const HOSTILE = "test/console/hostile.test.ts";
const LIVE = "test/console/live.test.ts";
const PROCESS = "test/console/process.test.ts";
const ROUTES = "test/console/every-route.test.ts";
const SESSIONS = "test/console/sessions.test.ts";
const WORDS = "test/console/words.test.ts";

export const CONSOLE_GUARDS: readonly Guard[] = [
  {
    promise: "strangers get no further than the console's door",
    file: `${SRC}/access.ts`,
    guard: "if (request.person === null && !isForStrangers(access)) return showDoor(request, reply);",
    without: "if (request.person === null && isEnding()) return showDoor(request, reply);",
    tests: [{ file: ROUTES, title: "strangers reach the door" }],
  },
  {
    promise: "whoever may only look changes nothing",
    file: `${SRC}/access.ts`,
    guard: "if (!isAllowed(request.person, access)) {",
    without: "if (isEnding() && !isAllowed(request.person, access)) {",
    tests: [{ file: ACCESS, title: "may not act at" }],
  },
  {
    promise: "whoever may only look is offered no act",
    file: `${SRC}/pages/act-forms.ts`,
    guard: 'reader.role !== "operator" || outcome === "applied"',
    without: 'outcome === "applied"',
    tests: [{ file: ACCESS, title: "no button that acts, where an operator sees them" }],
  },
  {
    promise: "whoever may only look reaches no button of the raw queues",
    file: `${SRC}/routes/queues.ts`,
    guard: 'const access = isReadOnly && isLook ? "viewer" : "board";',
    without: 'const access = isReadOnly || isLook ? "viewer" : "board";',
    tests: [{ file: ACCESS, title: "sees the raw queues without a button" }],
  },
  {
    promise: "a form of another page does nothing",
    file: `${SRC}/access.ts`,
    guard: "if (isChange(request) && !origin.isOurs(request.headers)) throw foreignForm();",
    without: "if (isEnding() && !origin.isOurs(request.headers)) throw foreignForm();",
    tests: [{ file: ACCESS, title: "of another page does nothing" }],
  },
  {
    promise: "a form does nothing without its reader's token",
    file: `${SRC}/access.ts`,
    guard: "if (!isTheirs) throw foreignForm();",
    without: "if (!isTheirs && isEnding()) throw foreignForm();",
    tests: [{ file: ACCESS, title: "without this reader's token does nothing" }],
  },
  {
    promise: "another name for the loopback opens no door",
    file: `${SRC}/access.ts`,
    guard: "if (!origin.isOurHost(request.headers)) {",
    without: "if (isEnding() && !origin.isOurHost(request.headers)) {",
    tests: [{ file: ACCESS, title: "another name for this machine" }],
  },
  {
    promise: "an address that is sent along leads nowhere but into the console",
    file: `${SRC}/fields.ts`,
    guard: 'origin === HERE && !pathname.startsWith("//") ?',
    without: "origin === HERE ?",
    tests: [{ file: WORDS, title: "leads nowhere but into the console" }],
  },
  {
    promise: "a session that nobody uses ends",
    file: `${SRC}/sessions.ts`,
    guard: "nowMs - usedAtMs >= this.#options.idleMs",
    without: "nowMs - usedAtMs >= this.#options.longestMs",
    tests: [{ file: SESSIONS, title: "ends when nobody used it for a while" }],
  },
  {
    promise: "a session ends however much it is used",
    file: `${SRC}/sessions.ts`,
    guard: "return nowMs >= untilMs || nowMs",
    without: "return nowMs >= untilMs * 100 || nowMs",
    tests: [{ file: SESSIONS, title: "ends after its longest time" }],
  },
  {
    promise: "passwords for one name are not tried too often",
    file: `${SRC}/login-desk.ts`,
    guard: "byAddress.take(address) || byName.take(name)",
    without: "byAddress.take(address) || byName.take(address + name)",
    tests: [{ file: SESSIONS, title: "is not tried too often for one name" }],
  },
  {
    promise: "what was typed for a name is logged only where it is one",
    file: `${SRC}/routes/login.ts`,
    guard: "loginDesk.knows(name) ? name : null",
    without: 'loginDesk.knows(name) || name !== "" ? name : null',
    tests: [{ file: PROCESS, title: "too many wrong passwords" }],
  },
  {
    promise: "a proxy is believed for its secret only",
    file: `${SRC}/doorkeeper.ts`,
    guard: 'if (proxy === null || typeof secret !== "string" || !isSame(secret, proxy.secret)) return null;',
    without: 'if (proxy === null || typeof secret !== "string") return null;',
    tests: [{ file: PROCESS, title: "a proxy is believed with its secret only" }],
  },
  {
    promise: "whatever stands in a field is text on a page",
    file: `${SRC}/html.ts`,
    guard: 'return htmlEscape(text.split("\\n").map(printable).join("\\n"));',
    without: 'return htmlEscape("").concat(text.split("\\n").map(printable).join("\\n"));',
    tests: [{ file: WORDS, title: "has values as text" }],
  },
  {
    promise: "no text of a page hides, or turns what stands behind it round",
    file: `${SRC}/html.ts`,
    guard: ".map(printable)",
    without: ".map((line) => (line.length > 0 ? line : printable(line)))",
    tests: [{ file: WORDS, title: "shows what hides or turns its neighbours round" }],
  },
  {
    promise: "a form sends a name back as it is, whatever hides in it",
    file: `${SRC}/html.ts`,
    guard: "if (markup.endsWith('=\"')) return htmlEscape;",
    without: "",
    tests: [{ file: WORDS, title: "is sent back by a form as it is" }],
  },
  {
    promise: "text that runs from right to left keeps to itself on a page",
    file: `${SRC}/html.ts`,
    guard: "RIGHT_TO_LEFT.test(text) ?",
    without: 'RIGHT_TO_LEFT.test("") ?',
    tests: [{ file: WORDS, title: "runs from right to left keeps to itself" }],
  },
  {
    promise: "a script that came in through a field does not run",
    file: `${SRC}/server.ts`,
    guard: `"script-src": ["'self'"],`,
    without: `"script-src": ["'self'", "'unsafe-inline'"],`,
    tests: [{ file: HOSTILE, title: "would not run if it were one" }],
  },
  {
    promise: "a page that hears nothing of its console does not say that it is live",
    file: "apps/console/assets/console.js",
    guard: "}, SILENT_MS);",
    without: "}, SILENT_MS * 1_000);",
    tests: [{ file: LIVE, title: "whose console has gone silent" }],
  },
  {
    promise: "what is being pressed on a page is not taken away",
    file: "apps/console/assets/console.js",
    guard: 'if (document.querySelector("main :active") !== null) return false;',
    without: "",
    tests: [{ file: LIVE, title: "what is being pressed is there" }],
  },
  {
    promise: "the form of an alert gives up no event",
    file: "packages/operations/src/dead-letters.ts",
    guard: 'now !== null && now.outcome !== "rejected"',
    without: 'now !== null && now.outcome === "applied"',
    tests: [{ file: ERRANDS, title: "whoever comes second is told" }],
  },
  {
    promise: "an operator does nothing that cannot be noted",
    file: "packages/operations/src/acts/action-record.ts",
    guard: "return await store.beginAction(action);",
    without: "return await store.beginAction(action).catch(() => 0);",
    tests: [{ file: ACTIONS, title: "what cannot be noted is not done" }],
  },
  {
    promise: "an act that may have been committed is never told as unchanged",
    file: "packages/order-store/src/errors.ts",
    guard: 'throw classify(error) === "lost" ? new CommitUnknownError({ cause: error }) : error;',
    without: 'throw classify(error) === "inbox" ? new CommitUnknownError({ cause: error }) : error;',
    tests: [{ file: ACTS, title: "whose COMMIT was sent and not answered is not certain" }],
  },
  {
    promise: "an act is not told as unchanged when its event was decided",
    file: "packages/order-store/src/operating.ts",
    guard: "throw new ReleaseInterruptedError({ lcid }, { cause });",
    without: "throw cause;",
    tests: [{ file: ACTS, title: "decided while what it blocked was not" }],
  },
  {
    promise: "only a database without the record is acted on without being noted",
    file: "packages/operations/src/acts/action-record.ts",
    guard: "if (onOldSchema === undefined || !isOldSchema(error)) throw",
    without: "if (onOldSchema === undefined || (!isOldSchema(error) && error === null)) throw",
    tests: [{ file: ACTS, title: "cannot be noted for another reason than an older database" }],
  },
  {
    promise: "two consoles on one machine leave each other's sessions alone",
    file: `${SRC}/own-origin.ts`,
    guard: '(/:(\\d{1,5})$/.exec(host)?.[1] ?? "")',
    without: "host.slice(0, 0)",
    tests: [{ file: PROCESS, title: "on two ports of one machine" }],
  },
  {
    promise: "a rate counts what was committed, and no try that was undone",
    file: "packages/order-store/src/finding.ts",
    guard: "(select count(*) from recent where seq > given.after)",
    without: "(newest - given.after)",
    tests: [
      { file: "test/order-store/finding.test.ts", title: "takes numbers, and the pulse counts none of them" },
    ],
  },
];
