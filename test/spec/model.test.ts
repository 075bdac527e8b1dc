import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ModelChecker } from "./checker.ts";
import { MUTATIONS } from "./mutations.ts";
import { taskOfMutation, tasksFor } from "./questions.ts";
import { findModelTools, systemSearch } from "./tools.ts";
import { verdictOn } from "./verdict.ts";

const PATIENCE_MS = 600_000;
const { signal } = new AbortController();
const tools = await findModelTools(systemSearch(signal));
const checker = new ModelChecker({
  tools,
  modelFolder: fileURLToPath(new URL("../../docs/spec/", import.meta.url)),
  signal,
});

describe("the lane protocol, looked at exhaustively", () => {
  const configurations = tasksFor({ effort: "short", only: "" }).filter(
    ({ kind }) => kind === "configuration",
  );

  test.each(configurations.map((task) => [task.question.name, task] as const))(
    "keeps every promise: %s",
    async (_name, task) => {
      expect(verdictOn(task, await checker.ask(task.question), 0).wrong).toBeNull();
    },
    PATIENCE_MS,
  );

  test.each(MUTATIONS.filter(({ guard }) => ["INBOX", "POLL"].includes(guard)))(
    "breaks $breaks without $guard",
    async (mutation) => {
      const answer = await checker.ask(taskOfMutation(mutation).question);
      expect(answer).toMatchObject({ kind: "broken", promise: mutation.breaks });
    },
    PATIENCE_MS,
  );

  test(
    "tells the way to a broken promise step by step",
    async () => {
      const mutation = MUTATIONS.find(({ guard }) => guard === "HANDOFF_TOKEN")!;
      const answer = await checker.ask(taskOfMutation(mutation).question);
      expect(answer.kind === "broken" && answer.steps).toEqual(
        expect.arrayContaining([
          "worker 1: enter for 1, turn with 1",
          "world: the lock of worker 1 is gone",
          "broken: own_token",
        ]),
      );
    },
    PATIENCE_MS,
  );
});
