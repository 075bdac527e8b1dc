import { count } from "../printing.ts";
import { clock, type Scene, type View } from "./scene.ts";

const EVERY_MS = 2_000;

/** A pipe, a file, a log of a build: one line now and then, nothing is rewritten. */
export function createPlainView(stream: NodeJS.WriteStream, startedAtMs: number): View {
  const write = (text: string): void => {
    stream.write(`${clock(performance.now() - startedAtMs)}  ${text}\n`);
  };
  return {
    everyMs: EVERY_MS,
    note: (text) => write(text.replaceAll("\n", "\n      ")),
    show: (scene) => write(lineOf(scene)),
    end: () => undefined,
  };
}

function lineOf({ doing, published, toPublish, toDecide, reading, rates, crew }: Scene): string {
  // Once everything is decided the figures stand still.
  if (reading === null || (published === toPublish && reading.decided === toDecide)) return doing;
  const { summary, lane, decided } = reading;
  return [
    `published ${count(published)}`,
    `decided ${count(decided)} of ${count(toDecide)}`,
    `${count(Math.round(rates.at(-1) ?? 0))}/s`,
    `deepest lane ${count(lane.depth)}`,
    `held ${count(summary.held)}`,
    `rejected ${count(summary.eventsByOutcome["rejected"] ?? 0)}`,
    `workers ${crew.filter(({ state }) => state === "at work").length}`,
  ].join(" · ");
}
