import type { Profiler } from "node:inspector";

/** A stack of calls that was seen, and how long it, and it alone, was on top. */
export interface CallNode {
  readonly functionName: string;
  /** A file's address; "" for what V8 and Node have in native code. */
  readonly url: string;
  /** Counted from 1. */
  readonly line: number;
  selfUs: number;
  readonly children: readonly CallNode[];
}

/** The calls of one stretch of time. */
export interface Calls {
  readonly root: CallNode;
  readonly samples: number;
  /** Time without samples: the process did not run because others did, and whoever was on top is not to blame. */
  readonly unseenUs: number;
}

/** Samples come several times as often as this while code runs. A thread that waits for its loop is not sampled for long. */
const LONGEST_SAMPLE_US = 1_000;
const WAITING = "(idle)";

interface Stretch {
  readonly fromUs: number;
  readonly toUs: number;
}

/**
 * Reads V8's profile between two moments of the system's monotonic clock in microseconds, which is the clock of both the
 * profile and `process.hrtime`.
 */
export function callsBetween(profile: Profiler.Profile, within: Stretch): Calls {
  const calls = treeOf(profile.nodes);
  let samples = 0;
  let unseenUs = 0;
  for (const { id, fromUs, toUs } of stretchesOf(profile)) {
    const lengthUs = Math.min(toUs, within.toUs) - fromUs;
    const node = calls.get(id);
    // One from before would carry the time of a stopped process into the window.
    if (node === undefined || fromUs < within.fromUs || lengthUs <= 0) continue;
    const seenUs = node.functionName === WAITING ? lengthUs : Math.min(lengthUs, LONGEST_SAMPLE_US);
    node.selfUs += seenUs;
    unseenUs += lengthUs - seenUs;
    samples += 1;
  }
  const root = calls.get(profile.nodes[0]?.id ?? 0);
  if (root === undefined) throw new TypeError("a profile without nodes");
  return { root, samples, unseenUs };
}

function treeOf(nodes: readonly Profiler.ProfileNode[]): ReadonlyMap<number, CallNode> {
  const made = new Map(nodes.map((node) => [node.id, { ...frameOf(node), children: [] as CallNode[] }]));
  for (const { id, children = [] } of nodes) {
    const called = children.flatMap((child) => made.get(child) ?? []);
    made.get(id)?.children.push(...called);
  }
  return made;
}

/** What was on top at one sample counts as being there until the next. */
function* stretchesOf({
  samples = [],
  timeDeltas = [],
  startTime,
  endTime,
}: Profiler.Profile): Generator<Stretch & { readonly id: number }> {
  let fromUs = startTime + (timeDeltas[0] ?? 0);
  for (const [index, id] of samples.entries()) {
    const deltaUs = timeDeltas[index + 1];
    const toUs = deltaUs === undefined ? endTime : fromUs + deltaUs;
    yield { id, fromUs, toUs };
    fromUs = toUs;
  }
}

function frameOf({ callFrame }: Profiler.ProfileNode): Omit<CallNode, "children"> {
  const { functionName, url, lineNumber } = callFrame;
  return {
    functionName: functionName === "" ? "(anonymous)" : functionName,
    url,
    line: lineNumber + 1,
    selfUs: 0,
  };
}
