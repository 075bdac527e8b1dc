import { describe, expect, test } from "vitest";
import { ErrorReports } from "../../packages/event-queues/src/error-reports.ts";

function createReports(): { reports: ErrorReports; told: string[]; clock: { nowMs: number } } {
  const told: string[] = [];
  const clock = { nowMs: 0 };
  const reports = new ErrorReports(
    (error) => told.push(error.message),
    () => clock.nowMs,
  );
  return { reports, told, clock };
}

describe("reports of errors", () => {
  test("tell of an outage once, however long it lasts and whichever command meets it", () => {
    const { reports, told, clock } = createReports();

    for (let second = 0; second < 3_600; second += 1) {
      clock.nowMs = second * 1_000;
      reports.add(new Error("connect ECONNREFUSED 127.0.0.1:6379"));
      reports.add(new Error("read ECONNRESET"));
      reports.add(new Error("Connection is closed."));
    }

    expect(told).toEqual(["connect ECONNREFUSED 127.0.0.1:6379"]);
  });

  test("tell of the next outage again, once the connection was back", () => {
    const { reports, told } = createReports();

    reports.add(new Error("read ECONNRESET"));
    reports.connected();
    reports.add(new Error("read ECONNRESET"));

    expect(told).toHaveLength(2);
  });

  test("take errors that differ in ids and numbers for one, others for others", () => {
    const { reports, told } = createReports();

    reports.add(new Error("could not renew lock for job 17"));
    reports.add(new Error("could not renew lock for job 18"));
    reports.add(new Error("Missing lock for job 17. moveToFinished"));

    expect(told).toEqual(["could not renew lock for job 17", "Missing lock for job 17. moveToFinished"]);
  });

  test("tell of the same trouble again after a quiet minute", () => {
    const { reports, told, clock } = createReports();

    reports.add(new Error("OOM command not allowed"));
    clock.nowMs = 59_999;
    reports.add(new Error("OOM command not allowed"));
    clock.nowMs += 60_000;
    reports.add(new Error("OOM command not allowed"));

    expect(told).toHaveLength(2);
  });

  test("remember a bounded number of kinds", () => {
    const { reports, told } = createReports();

    for (let kind = 0; kind < 1_000; kind += 1) reports.add(new Error(`trouble ${"x".repeat(kind % 150)}`));
    reports.add("not even an error");

    expect(told.at(-1)).toBe("not even an error");
  });
});
