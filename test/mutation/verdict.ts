import type { TestRun } from "./test-run.ts";

export type Verdict =
  | { readonly kind: "caught"; readonly by: { readonly file: string; readonly title: string } }
  /** Everything stayed green. */
  | { readonly kind: "missed" }
  /** Red, but not because a test saw the guard missing: that proves nothing. */
  | { readonly kind: "broken"; readonly why: string };

/** Failures that speak of the change itself and not of the promise. */
const NOT_THE_GUARD: readonly RegExp[] = [
  /SyntaxError|ReferenceError|Transform failed|PARSE_ERROR/,
  /Cannot find (?:module|package)|Failed to (?:load|resolve)|does not provide an export/,
  /Error compiling script|user_script:\d+: .*(?:attempt to|nonexistent global)/,
  /syntax error at or near|there is no parameter|bind message supplies/,
];
/**
 * The runner's own limit, which its report gives no better message than that. Whoever hangs has not been seen by a test, only
 * by a clock.
 */
const TIME_LIMIT = /^(?:Error: )?(?:STACK_TRACE_ERROR|(?:Test|Hook) timed out in)/;

/** What one run says about the guard that was out meanwhile; `hangs` as the guard says it. */
export function verdictOf(
  { file, passed, late, report, said }: TestRun,
  { hangs }: { hangs: boolean },
): Verdict {
  if (late) return { kind: "broken", why: "it did not end in time" };
  if (report === null) return { kind: "broken", why: `vitest reported nothing: ${said}` };
  const results = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const red = results.find(({ status }) => status === "failed");
  if (red !== undefined) {
    const message = red.failureMessages?.join("\n") ?? "";
    const isBeside =
      NOT_THE_GUARD.some((pattern) => pattern.test(message)) || (!hangs && TIME_LIMIT.test(message));
    return isBeside
      ? { kind: "broken", why: `${red.title}: ${message.slice(0, 500)}` }
      : { kind: "caught", by: { file, title: red.title } };
  }
  if (!passed) {
    const failure = report.testResults.find(({ message }) => message !== "")?.message ?? said;
    return { kind: "broken", why: `no test is red, and yet it failed: ${failure.slice(0, 500)}` };
  }
  if (!results.some(({ status }) => status === "passed")) return { kind: "broken", why: "no test ran" };
  return { kind: "missed" };
}

/** Why a run of the unchanged source is no ground to stand on; null when it is green and each title found its test. */
export function flawOf(run: TestRun, titles: readonly string[] | undefined): string | null {
  const verdict = verdictOf(run, { hangs: false });
  if (verdict.kind === "caught") return `“${verdict.by.title}” is red with every guard in its place`;
  if (verdict.kind === "broken") return verdict.why;
  const passed = (run.report?.testResults ?? [])
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed")
    .map(({ fullName }) => fullName);
  const idle = (titles ?? []).find((title) => !passed.some((name) => name.includes(title)));
  return idle === undefined ? null : `no test of it is called “${idle}”`;
}
