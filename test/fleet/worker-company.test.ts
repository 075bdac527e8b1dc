import { expect, test } from "vitest";
import { Company } from "../../apps/worker/src/company.ts";

test("a process that served two lanes reckons with others for a while, and one that served one lane does not", () => {
  let nowMs = 1_000;
  const company = new Company({ lastsMs: 100, clock: () => nowMs });
  expect(company.isThere).toBe(false);
  company.look(1);
  expect(company.isThere).toBe(false);
  company.look(2);
  expect(company.isThere).toBe(true);
  nowMs += 99;
  company.look(1);
  expect(company.isThere).toBe(true);
  nowMs += 1;
  expect(company.isThere).toBe(false);
});
