import type { CallNode } from "./cpu-profile.ts";

/** Waiting for something to happen. */
export const IDLE = "idle";

/** What belongs to nobody's code: native work by its name in the profile. */
const NATIVE: Readonly<Record<string, string>> = {
  "(garbage collector)": "garbage collection",
  "(program)": "native, no caller",
  "(idle)": IDLE,
  runMicrotasks: "promises",
  // What these cost is the kernel's work, whoever asked for it.
  writev: "socket writes",
  writeBuffer: "socket writes",
  writeUtf8String: "socket writes",
  writeLatin1String: "socket writes",
  writeAsciiString: "socket writes",
};

/** Time that no code of a package had asked for: timers, streams that wake up, the loop itself. */
const NODE = "node";

/** The package, project's or library's, that a file belongs to; null for Node's own files and native code. */
function packageOf(url: string): string | null {
  const library = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(url)?.[1];
  // One client in several packages.
  if (library !== undefined) return library.startsWith("pg-") || library === "pgpass" ? "pg" : library;
  return /\/(?:packages|apps)\/([^/]+)\//u.exec(url)?.[1] ?? null;
}

/** Whose time a call is when it is on top: its own package's, or the one that asked Node for it. */
export function layerOf(node: CallNode, asker: string): string {
  if (node.url === "") return NATIVE[node.functionName] ?? asker;
  return packageOf(node.url) ?? asker;
}

export interface LayerTime {
  readonly layer: string;
  readonly selfUs: number;
  /** The part of it that went to Node's own JavaScript and native code on the layer's behalf. */
  readonly inNodeUs: number;
}

export interface FunctionTime {
  readonly name: string;
  readonly place: string;
  readonly layer: string;
  readonly selfUs: number;
}

/** Time on top of the stack, by layer and by function, largest first. */
export function timesOf(root: CallNode): {
  readonly layers: readonly LayerTime[];
  readonly functions: readonly FunctionTime[];
} {
  const layers = new Map<string, { layer: string; selfUs: number; inNodeUs: number }>();
  const functions = new Map<string, { name: string; place: string; layer: string; selfUs: number }>();
  walk(root, NODE, (node, layer) => {
    const { selfUs, functionName, url, line } = node;
    if (selfUs === 0) return;
    const time = layers.get(layer) ?? { layer, selfUs: 0, inNodeUs: 0 };
    layers.set(layer, time);
    time.selfUs += selfUs;
    if (packageOf(url) === null) time.inNodeUs += selfUs;
    const place = placeOf(node);
    const key = `${functionName} ${url}:${line}`;
    const own = functions.get(key) ?? { name: functionName, place, layer, selfUs: 0 };
    functions.set(key, own);
    own.selfUs += selfUs;
  });
  return { layers: largestFirst(layers), functions: largestFirst(functions) };
}

/** Visits every call with its layer. */
function walk(node: CallNode, asker: string, visit: (node: CallNode, layer: string) => void): void {
  const layer = layerOf(node, asker);
  visit(node, layer);
  // What is native asks for nothing: promises run other people's code.
  const next = node.url === "" ? asker : layer;
  for (const child of node.children) walk(child, next, visit);
}

/** A short file name with its line, as a person looks for it. */
export function placeOf({ url, line }: Pick<CallNode, "url" | "line">): string {
  if (url === "") return "native";
  const short = url.replace(/^.*\/node_modules\//u, "").replace(/^.*\/(packages|apps)\//u, "");
  return `${short.replace("/dist/", "/")}:${line}`;
}

function largestFirst<Time extends { readonly selfUs: number }>(times: ReadonlyMap<string, Time>): Time[] {
  return [...times.values()].toSorted((left, right) => right.selfUs - left.selfUs);
}
