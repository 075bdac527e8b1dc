import { flagsOf } from "./definition.ts";
import type { Verdict } from "./verdict.ts";

/** The rows of docs/spec/README.md, with what was measured. */
export function tablesOf(verdicts: readonly Verdict[]): string {
  const configurations = verdicts.flatMap(({ task, answer, tookMs }) => {
    if (task.kind !== "configuration" || answer.kind !== "holds") return [];
    const { name, says, effort } = task.configuration;
    const flags = `\`${flagsOf(task.question).join(" ")}\``;
    const states = answer.states.toLocaleString("en-US");
    const seconds = Math.round(tookMs / 1_000);
    return [`| ${name} | ${says} | ${effort} | ${flags} | ${states} | ${answer.depth} | ${seconds} |`];
  });
  const mutations = verdicts.flatMap(({ task }) => {
    if (task.kind !== "mutation") return [];
    const { guard, says, within, breaks } = task.mutation;
    return [`| \`${guard}\` | ${says} | ${within} | \`${breaks}\` |`];
  });
  const spares = verdicts.flatMap(({ task }) => {
    if (task.kind !== "spare") return [];
    const { guard, says, why } = task.spare;
    return [`| \`${guard}\` | ${says} | ${why} |`];
  });
  return [
    "| configuration | what it looks at | effort | flags | states | depth | seconds |",
    "| --- | --- | --- | --- | ---: | ---: | ---: |",
    ...configurations,
    "",
    "| without | what it sees to | missed in | the promise that breaks |",
    "| --- | --- | --- | --- |",
    ...mutations,
    "",
    "| without | what it sees to | why nothing breaks |",
    "| --- | --- | --- |",
    ...spares,
    "",
  ].join("\n");
}
