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

/**
 * Reads V8's profile between two moments of the system's monotonic clock in microseconds, which is the clock of both the
 * profile and `process.hrtime`. What was on top at one sample stays so until the next.
 */
export function callsBetween(
  { nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile,
  { fromUs, toUs }: { readonly fromUs: number; readonly toUs: number },
): Calls {
  const made = new Map(nodes.map((node) => [node.id, { ...frameOf(node), children: [] as CallNode[] }]));
  for (const { id, children = [] } of nodes) {
    const into = made.get(id)?.children;
    for (const child of children) {
      const node = made.get(child);
      if (node !== undefined) into?.push(node);
    }
  }
  let atUs = startTime;
  let counted = 0;
  let unseenUs = 0;
  for (const [index, id] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0;
    const nextUs = index + 1 < samples.length ? atUs + (timeDeltas[index + 1] ?? 0) : endTime;
    const withinUs = Math.min(nextUs, toUs) - Math.max(atUs, fromUs);
    const node = made.get(id);
    // A sample before the window would carry the time of a stopped process into it.
    if (node === undefined || withinUs <= 0 || atUs < fromUs) continue;
    const seenUs = node.functionName === WAITING ? withinUs : Math.min(withinUs, LONGEST_SAMPLE_US);
    node.selfUs += seenUs;
    unseenUs += withinUs - seenUs;
    counted += 1;
  }
  const root = made.get(nodes[0]?.id ?? 0);
  if (root === undefined) throw new TypeError("a profile without nodes");
  return { root, samples: counted, unseenUs };
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
