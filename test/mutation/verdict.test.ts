import { describe, expect, test } from "vitest";
import type { JsonTestResults } from "vitest/node";
import { byFile } from "./test-run.ts";
import type { TestRun } from "./test-run.ts";
import { flawOf, verdictOf } from "./verdict.ts";

interface Given {
  readonly status: "passed" | "failed" | "skipped";
  readonly title: string;
  readonly message?: string;
}

function runOf(
  results: readonly Given[],
  given: Partial<TestRun> & { readonly fileMessage?: string } = {},
): TestRun {
  const assertionResults = results.map(({ status, title, message }) => ({
    status,
    title,
    fullName: `group ${title}`,
    failureMessages: message === undefined ? [] : [message],
  }));
  const report = { testResults: [{ assertionResults, message: given.fileMessage ?? "" }] };
  return {
    file: "test/a/b.test.ts",
    passed: results.every(({ status }) => status !== "failed"),
    late: false,
    report: report as unknown as JsonTestResults,
    said: "",
    ...given,
  };
}

const verdict = (run: TestRun, hangs = false): ReturnType<typeof verdictOf> => verdictOf(run, { hangs });
const PASSED: Given = { status: "passed", title: "one" };

describe("a guard that is out", () => {
  test("is caught by the first test that is red", () => {
    const red: Given = { status: "failed", title: "two", message: "AssertionError: expected 1 to be 2" };
    expect(verdict(runOf([PASSED, red, { ...red, title: "three" }]))).toEqual({
      kind: "caught",
      by: { file: "test/a/b.test.ts", title: "two" },
    });
  });

  test("is missed when everything stays green", () => {
    expect(verdict(runOf([PASSED, { status: "skipped", title: "two" }]))).toEqual({ kind: "missed" });
  });

  test.each([
    "SyntaxError: Unexpected token",
    "ReferenceError: wait is not defined",
    "Error: Cannot find module './gone.ts'",
    "ReplyError: ERR Error compiling script (new function): user_script:3: '=' expected",
    "ReplyError: ERR user_script:9: Script attempted to access nonexistent global variable 'key'",
    'error: syntax error at or near "for"',
  ])("proves nothing when the change itself is what fails: %s", (message) => {
    expect(verdict(runOf([{ status: "failed", title: "two", message }]))).toMatchObject({ kind: "broken" });
  });

  test("proves nothing when only a clock saw it, unless hanging is how it shows", () => {
    const run = runOf([{ status: "failed", title: "two", message: "Error: STACK_TRACE_ERROR\n    at task" }]);
    expect(verdict(run)).toMatchObject({ kind: "broken" });
    expect(verdict(run, true)).toMatchObject({ kind: "caught" });
  });

  test("proves nothing when the run did not end, did not report, ran no test or failed beside its tests", () => {
    expect(verdict(runOf([PASSED], { late: true }))).toMatchObject({ kind: "broken" });
    expect(verdict(runOf([PASSED], { report: null }))).toMatchObject({ kind: "broken" });
    expect(verdict(runOf([{ status: "skipped", title: "one" }]))).toMatchObject({ kind: "broken" });
    const beside = runOf([PASSED], { passed: false, fileMessage: "an unhandled rejection" });
    expect(verdict(beside)).toMatchObject({
      kind: "broken",
      why: expect.stringContaining("unhandled") as string,
    });
  });
});

describe("the ground to stand on", () => {
  test("is a green run in which each title found its test", () => {
    expect(flawOf(runOf([PASSED]), undefined)).toBeNull();
    expect(flawOf(runOf([PASSED]), ["group one"])).toBeNull();
    expect(flawOf(runOf([PASSED]), ["one", "two"])).toContain("“two”");
    expect(flawOf(runOf([{ status: "failed", title: "one", message: "no" }]), ["one"])).toContain("“one”");
  });

  test("is run once for each file, whole where one guard wants it whole", () => {
    const wanted = byFile([
      { file: "a", title: "one" },
      { file: "b" },
      { file: "a", title: "two" },
      { file: "a", title: "one" },
      { file: "b", title: "three" },
    ]);
    expect([...wanted]).toEqual([
      ["a", ["one", "two"]],
      ["b", undefined],
    ]);
  });
});
