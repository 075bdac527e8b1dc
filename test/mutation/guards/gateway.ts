import type { Guard } from "./guard.ts";

/** Who may send what, what is answered, and what of it is told to nobody. */

const SRC = "apps/gateway/src";
const ANSWERS = "test/gateway/answers.test.ts";
const CANARIES = "test/gateway/canaries.test.ts";
const DESCRIPTION = "test/gateway/description.test.ts";
const HOSTILE = "test/gateway/hostile-requests.test.ts";
const INTAKE = "test/gateway/intake.test.ts";
const KNOWN = "test/gateway/known-bodies.test.ts";
const OUTAGES = "test/gateway/outages.test.ts";
const SIGNATURE = "test/gateway/stripe-signature.test.ts";
const TOKENS = "test/gateway/tokens.test.ts";
const WEBHOOK = "test/gateway/stripe-webhook.test.ts";
const MAPPING = "test/gateway/stripe-mapping.test.ts";

export const GATEWAY_GUARDS: readonly Guard[] = [
  {
    promise: "nobody publishes over HTTP without a token that is known",
    file: `${SRC}/server.ts`,
    guard: "if (sender === null) throw unauthorized();",
    without: 'if (sender === null) return void senders.set(request, { name: "", maySend: () => true });',
    tests: [{ file: ANSWERS, title: "for its token" }],
  },
  {
    promise: "a token publishes as its own sources and no other",
    file: `${SRC}/server.ts`,
    guard: "      refuseForeign(sender, events);\n",
    without: "      if (events.length < 0) refuseForeign(sender, events);\n",
    tests: [{ file: ANSWERS, title: "for the source of one event" }],
  },
  {
    promise: "a stranger's body is not waited for",
    file: `${SRC}/server.ts`,
    guard: "onRequest: async (request) => {",
    without: "preHandler: async (request) => {",
    hangs: true,
    tests: [{ file: HOSTILE, title: "of a stranger is not waited for" }],
  },
  {
    promise: "tokens are compared by their hashes",
    file: `${SRC}/token-book.ts`,
    guard: 'createHash("sha256").update(token).digest()',
    without: 'createHash("sha256").update(Buffer.from(token, "hex")).digest()',
    tests: [{ file: TOKENS, title: "is known by its hash" }],
  },
  {
    promise: "hashes of tokens are compared in constant time",
    file: `${SRC}/token-book.ts`,
    guard: "timingSafeEqual(page.hash, hash)",
    without: "page.hash.equals(hash)",
    tests: [{ file: TOKENS, title: "in constant time" }],
  },
  {
    promise: "the place of a token in the list does not show",
    file: `${SRC}/token-book.ts`,
    guard: "found = page.sender;",
    without: "return page.sender;",
    tests: [{ file: TOKENS, title: "in constant time" }],
  },
  {
    promise: "a token that can be guessed is never known",
    file: `${SRC}/token-book.ts`,
    guard: "{32,512}",
    without: "{1,512}",
    tests: [{ file: TOKENS, title: "short enough to be guessed" }],
  },
  {
    promise: "a token sends so many events a minute and no more",
    file: `${SRC}/server.ts`,
    guard: "if (events.length > 1) spend(sender, events.length, { already: 1 });",
    without: "",
    tests: [{ file: ANSWERS, title: "for too many events" }],
  },
  {
    promise: "who comes again when told finds room for all of a batch",
    file: `${SRC}/rate-limit.ts`,
    guard: "(whole - left) / perMs",
    without: "(cost - left) / perMs",
    tests: [{ file: TOKENS, title: "for the whole of a batch" }],
  },
  {
    promise: "each sender's limit is its own",
    file: `${SRC}/rate-limit.ts`,
    guard: "this.#buckets.set(sender,",
    without: "this.#buckets.set(this,",
    and: [
      {
        file: `${SRC}/rate-limit.ts`,
        guard: "this.#buckets.get(sender)",
        without: "this.#buckets.get(this)",
      },
    ],
    tests: [{ file: TOKENS, title: "is no other sender's" }],
  },
  {
    promise: "a body is never larger than allowed",
    file: `${SRC}/server.ts`,
    guard: "bodyLimit: bodyBytes,",
    without: "bodyLimit: 2 ** 30,",
    hangs: true,
    tests: [{ file: HOSTILE, title: "larger than allowed" }],
  },
  {
    promise: "a batch has no more events than allowed",
    file: `${SRC}/request-events.ts`,
    guard: "if (events.length <= mostEvents) return events;",
    without: "if (mostEvents > 0) return events;",
    tests: [{ file: ANSWERS, title: "for more events than a batch" }],
  },
  {
    promise: "a request that arrives too slowly is ended",
    file: `${SRC}/server.ts`,
    guard: "requestTimeout: requestMs,",
    without: "requestTimeout: 0,",
    hangs: true,
    tests: [{ file: HOSTILE, title: "too slowly" }],
  },
  {
    promise: "text that is not UTF-8 is not guessed at",
    file: `${SRC}/request-events.ts`,
    guard: "{ fatal: true }",
    without: "{ fatal: false }",
    tests: [{ file: HOSTILE, title: "not UTF-8" }],
  },
  {
    promise: "a header that is not ASCII is not guessed at",
    file: `${SRC}/binary-mode.ts`,
    guard: "if (!PRINTABLE.test(value)) throw malformed(",
    without: "if (value === header) throw malformed(",
    tests: [{ file: ANSWERS, title: "a letter that is not encoded" }],
  },
  {
    promise: "an attribute that comes in two headers is refused",
    file: `${SRC}/binary-mode.ts`,
    guard: 'if (name in attributes) throw malformed(header, "one such header");',
    without: "",
    tests: [{ file: ANSWERS, title: "a header twice" }],
  },
  {
    promise: "a header is an attribute only under an attribute's name",
    file: `${SRC}/binary-mode.ts`,
    guard: "!ATTRIBUTE.test(name) || ",
    without: "",
    tests: [{ file: ANSWERS, title: "a name that is no attribute's" }],
  },
  {
    promise: "an answer of 202 covers no event that was refused",
    file: `${SRC}/intake.ts`,
    guard: "if (status > highest) highest = status;",
    without: "if (results.length === 1) highest = status;",
    tests: [{ file: ANSWERS, title: "full is told 429" }],
  },
  {
    promise: "an event is answered 202 only once it is in Redis",
    file: `${SRC}/intake.ts`,
    guard: "results[index] = { ...refused(result.error), ...namesOf(envelope) };",
    without: "results[index] = accepted({ envelope, print, isRepeat });",
    tests: [{ file: OUTAGES, title: "never 202" }],
  },
  {
    promise: "another body under a used identity is refused while its first is remembered",
    file: `${SRC}/intake.ts`,
    guard: "if (before !== undefined && !saysTheSame(before, print)) {",
    without: "if (before !== undefined && before === null) {",
    tests: [{ file: ANSWERS, title: "is told 409" }],
  },
  {
    promise: "the gateway calls a contradiction what the inbox calls one",
    file: `${SRC}/known-bodies.ts`,
    guard: "if (a.meaning !== null && b.meaning !== null) return a.meaning === b.meaning;",
    without: "",
    tests: [{ file: KNOWN, title: "exactly when the inbox says so" }],
  },
  {
    promise: "what is remembered of events is bounded",
    file: `${SRC}/known-bodies.ts`,
    guard: "if (oldest !== undefined) this.#prints.delete(oldest);",
    without: "void oldest;",
    tests: [{ file: KNOWN, title: "no more identities than allowed" }],
  },
  {
    promise: "a full line says when to come again",
    file: `${SRC}/server.ts`,
    guard: 'reply.header("retry-after", RETRY_SECONDS[status])',
    without: "reply",
    tests: [{ file: ANSWERS, title: "full is told 429" }],
  },
  {
    promise: "an answer does not say where Redis is",
    file: `${SRC}/intake.ts`,
    guard: 'const message = "the event could not be stored for certain; publish it again";',
    without: "const { message } = error;",
    tests: [{ file: INTAKE, title: "not told to a sender" }],
  },
  {
    promise: "a refusal does not quote what was sent",
    file: `${SRC}/request-events.ts`,
    guard: 'throw malformed("body", "well-formed JSON");',
    without: 'throw malformed("body", String(text));',
    tests: [{ file: CANARIES }],
  },
  {
    promise: "the log of a fault does not quote what was sent",
    file: `${SRC}/server.ts`,
    guard: "logger.error(faultOf(error),",
    without: "logger.error({ said: error.message },",
    tests: [{ file: DESCRIPTION, title: "a fault of ours" }],
  },
  {
    promise: "an outage is worth one line",
    file: `${SRC}/outage-log.ts`,
    guard: "if (!this.#isOut) this.#logger.warn",
    without: "this.#logger.warn",
    tests: [{ file: OUTAGES, title: "never 202" }],
  },
  {
    promise: "a gateway that ends takes no request any more",
    file: `${SRC}/server.ts`,
    guard: "if (isEnding()) throw closing();",
    without: "",
    tests: [{ file: OUTAGES, title: "refuses what comes on an old connection" }],
  },
  {
    promise: "a request that never arrives whole does not keep a gateway from ending",
    file: `${SRC}/run-gateway.ts`,
    guard: "() => app.server.closeAllConnections(),",
    without: "() => undefined,",
    tests: [{ file: OUTAGES, title: "cuts off what never arrives whole" }],
  },
  {
    promise: "a gateway is not ready while Redis is silent",
    file: `${SRC}/run-gateway.ts`,
    guard: 'ok: redis === "answers" && requests',
    without: "ok: requests",
    tests: [{ file: OUTAGES, title: "never 202" }],
  },
  {
    promise: "a gateway acknowledges nothing into a Redis that may drop it",
    file: `${SRC}/run-gateway.ts`,
    guard: "refuseEviction(await probe.fitness(), config.redisUrl);",
    without: "",
    tests: [{ file: OUTAGES, title: "refuses one that may drop" }],
  },
  {
    promise: "a delivery of Stripe's is published only with a signature that holds",
    file: `${SRC}/stripe/webhook.ts`,
    guard: 'if (verdict !== "genuine") {',
    without: 'if (verdict === "unreadable") {',
    tests: [{ file: WEBHOOK, title: "without a good signature" }],
  },
  {
    promise: "Stripe's signatures are compared in constant time",
    file: `${SRC}/stripe/signature.ts`,
    guard: "timingSafeEqual(one, signature)",
    without: "one.equals(signature)",
    tests: [{ file: SIGNATURE, title: "in constant time" }],
  },
  {
    promise: "a recorded delivery cannot be sent again later",
    file: `${SRC}/stripe/signature.ts`,
    guard: "Math.abs(nowMs - Number(timestamp) * 1_000) > toleranceMs",
    without: "toleranceMs < 0",
    tests: [{ file: SIGNATURE, title: "older than the tolerance" }],
  },
  {
    promise: "the time of signing is part of what is signed",
    file: `${SRC}/stripe/signature.ts`,
    guard: `.update(\`\${timestamp}.\`)`,
    without: "",
    tests: [{ file: SIGNATURE, title: "Stripe's scheme" }],
  },
  {
    promise: "a delivery with two times of signing is refused",
    file: `${SRC}/stripe/signature.ts`,
    guard: "timestamps.length === 1",
    without: "timestamps.length > 0",
    tests: [{ file: SIGNATURE, title: "is unreadable as" }],
  },
  {
    promise: "Stripe is told that its event arrived only once it is in Redis",
    file: `${SRC}/stripe/webhook.ts`,
    guard: "return status === 202",
    without: "return status > 0",
    tests: [{ file: WEBHOOK, title: "while Redis is away" }],
  },
  {
    promise: "a refund that has not succeeded pays nothing back",
    file: `${SRC}/stripe/mapping.ts`,
    guard: 'if (refund["status"] !== "succeeded") return [];',
    without: "",
    tests: [{ file: MAPPING, title: "a refund that has not succeeded" }],
  },
  {
    promise: "Stripe's own units become minor units",
    file: `${SRC}/stripe/mapping.ts`,
    guard: "if (units === undefined || ",
    without: "if (units === undefined || units > 0 || ",
    tests: [{ file: MAPPING, title: "minor units of ISO 4217" }],
  },
  {
    promise: "a secret among the variables is never shown",
    file: "packages/service/src/config.ts",
    guard: 'variable.isSecret === true ? "(hidden)" : ',
    without: "",
    tests: [{ file: "test/service/config.test.ts", title: "a secret is not shown" }],
  },
];
