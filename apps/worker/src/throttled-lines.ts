import type { FleetLogger } from "./ports.ts";

/** Kinds remembered at once; the longest silent one is forgotten first. */
const MOST_KINDS = 64;
/** Orders of unsaid lines that the next line names. */
const MOST_NAMED = 20;

interface Kind {
  readonly quietUntilMs: number;
  unsaid: number;
  readonly lcids: Set<string>;
}

export interface ThrottledLinesOptions {
  readonly logger: Pick<FleetLogger, "warn" | "error">;
  readonly everyMs: number;
  /** Default `performance.now`. */
  readonly clock?: () => number;
}

interface Entry {
  /** The order it is about, if it is about one. */
  readonly lcid?: string;
  readonly fields: object;
  readonly line: string;
}

/**
 * Says a line at once, and its repetitions no more often than `everyMs` a kind: one cause can fail every job of a backlog, and the
 * thousandth line says nothing that the first did not, but which order it was about: the next line names those, up to 20.
 */
export class ThrottledLines {
  readonly #logger: ThrottledLinesOptions["logger"];
  readonly #everyMs: number;
  readonly #clock: () => number;
  readonly #kinds = new Map<string, Kind>();

  constructor({ logger, everyMs, clock = () => performance.now() }: ThrottledLinesOptions) {
    this.#logger = logger;
    this.#everyMs = everyMs;
    this.#clock = clock;
  }

  say(level: "warn" | "error", kind: string, { lcid, fields, line }: Entry): void {
    const nowMs = this.#clock();
    const known = this.#kinds.get(kind);
    if (known !== undefined && nowMs < known.quietUntilMs) {
      known.unsaid += 1;
      if (lcid !== undefined && known.lcids.size < MOST_NAMED) known.lcids.add(lcid);
      return;
    }
    const { unsaid = 0, lcids = new Set<string>() } = known ?? {};
    if (lcid !== undefined) lcids.delete(lcid);
    this.#kinds.delete(kind);
    this.#kinds.set(kind, { quietUntilMs: nowMs + this.#everyMs, unsaid: 0, lcids: new Set() });
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MOST_KINDS && oldest !== undefined) this.#kinds.delete(oldest);
    const about = lcid === undefined ? fields : { lcid, ...fields };
    const others = lcids.size === 0 ? {} : { otherLcids: [...lcids] };
    this.#logger[level](unsaid === 0 ? about : { ...about, unsaid, ...others }, line);
  }
}
