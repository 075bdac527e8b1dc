import { CONFIGURATIONS } from "./configurations.ts";
import type { Configuration } from "./configurations.ts";
import type { ModelQuestion } from "./definition.ts";
import { MUTATIONS, PROGRESS, SPARED_WITHIN, SPARES } from "./mutations.ts";
import type { Mutation, Spare } from "./mutations.ts";

export type Task =
  | {
      readonly kind: "configuration";
      readonly configuration: Configuration;
      readonly question: ModelQuestion;
    }
  | { readonly kind: "mutation"; readonly mutation: Mutation; readonly question: ModelQuestion }
  | { readonly kind: "spare"; readonly spare: Spare; readonly question: ModelQuestion };

const EFFORTS: readonly Configuration["effort"][] = ["short", "usual", "deep"];
/** Guards that the short form takes out, too: one that a promise misses, one that progress misses. */
const SHORT_MUTATIONS: ReadonlySet<string> = new Set(["HANDOFF_TOKEN", "POLL"]);

/** What is asked of the model, in that order. */
export function tasksFor({
  effort,
  only,
}: {
  effort: Configuration["effort"];
  only: string;
}): readonly Task[] {
  const configurations = CONFIGURATIONS.filter(
    (configuration) => EFFORTS.indexOf(configuration.effort) <= EFFORTS.indexOf(effort),
  );
  const mutations = MUTATIONS.filter(({ guard }) => effort !== "short" || SHORT_MUTATIONS.has(guard));
  const spares = effort === "short" ? [] : SPARES;
  const tasks = [
    ...configurations.map(taskOfConfiguration),
    ...mutations.map(taskOfMutation),
    ...spares.map(taskOfSpare),
  ];
  return tasks.filter(({ question }) => question.name.toLowerCase().includes(only.toLowerCase()));
}

function taskOfConfiguration(configuration: Configuration): Task {
  const { name, define, progress, effort } = configuration;
  return {
    kind: "configuration",
    configuration,
    question: { name, define, progress, shortest: false, long: effort !== "short" },
  };
}

export function taskOfMutation(mutation: Mutation): Task {
  const { guard, within, narrowed = {}, breaks } = mutation;
  const configuration = CONFIGURATIONS.find(({ name }) => name === within);
  if (configuration === undefined) throw new TypeError(`there is no configuration “${within}”`);
  const progress = breaks === PROGRESS;
  const define = { ...configuration.define, ...narrowed, [`WITHOUT_${guard}`]: true as const };
  return {
    kind: "mutation",
    mutation,
    question: { name: guard, define, progress, shortest: !progress, long: false },
  };
}

function taskOfSpare(spare: Spare): Task {
  const define = { ...SPARED_WITHIN, [`WITHOUT_${spare.guard}`]: true as const };
  return {
    kind: "spare",
    spare,
    question: { name: spare.guard, define, progress: true, shortest: false, long: false },
  };
}
