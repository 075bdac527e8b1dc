/**
 * What a lane should hold, worked out in memory: written from the description of the steps, not from the scripts. A seat's
 * channel counts as heard when `isLive` says so.
 */
export interface Told {
  readonly channel: string;
  readonly word: readonly string[];
}

export interface ModelEntry {
  readonly token: string;
  readonly key: string;
  readonly hasBody: boolean;
  readonly channel: string;
}

export interface ModelHandoff {
  readonly token: string;
  readonly own: readonly string[];
  readonly others: readonly (readonly [key: string, value: string])[];
  readonly yieldTurn: boolean;
  readonly batch: number;
}

export type ModelAnswer =
  | { readonly kind: "settled"; readonly value: string }
  | { readonly kind: "turn" | "next"; readonly keys: readonly string[] }
  | { readonly kind: "waiting"; readonly position: number }
  | { readonly kind: "absent" | "lost" | "released" | "yielded" };

export class ModelLane {
  readonly lcid: string;
  readonly isLive: (channel: string) => boolean;
  readonly told: Told[] = [];
  lock: string | null = null;
  line: string[] = [];
  readonly bodies = new Set<string>();
  readonly seats = new Map<string, string>();
  readonly outcomes = new Map<string, string>();
  /** Keys whose outcome lies there for so long that it may be swept. */
  readonly old = new Set<string>();
  tries = 0;

  constructor(lcid: string, isLive: (channel: string) => boolean) {
    this.lcid = lcid;
    this.isLive = isLive;
  }

  queue(keys: readonly string[], cap: number): "queued" | "full" {
    this.#mendIfUneven();
    const fresh = new Set(keys.filter((key) => !this.bodies.has(key)));
    if (fresh.size > 0 && this.line.length + fresh.size > cap) return "full";
    for (const key of fresh) this.#join(key);
    return "queued";
  }

  enter({ token, key, hasBody, channel }: ModelEntry, batch: number): ModelAnswer {
    const value = key === "" ? undefined : this.outcomes.get(key);
    if (value !== undefined) {
      this.outcomes.delete(key);
      this.old.delete(key);
      return { kind: "settled", value };
    }
    this.#mendIfUneven();
    const mine = this.lock === null || this.lock === token;
    if (mine) this.#mendWhatIsHandedOut(batch);
    if (key !== "" && !this.bodies.has(key)) {
      if (!hasBody) return { kind: "absent" };
      this.#join(key);
    }
    if (mine) {
      if (this.lock === null) this.tries += 1;
      this.lock = token;
      this.seats.delete(key);
      return { kind: "turn", keys: this.line.slice(0, batch) };
    }
    if (key === "") return { kind: "waiting", position: 0 };
    if (channel !== "") this.seats.set(key, channel);
    const position = this.line.indexOf(key);
    return { kind: "waiting", position: position === -1 ? 256 : position };
  }

  handOff({ token, own, others, yieldTurn, batch }: ModelHandoff): ModelAnswer {
    if (this.lock !== token) return { kind: "lost" };
    this.#mendIfUneven();
    const values = new Map<string, string | null>([...own.map((key) => [key, null] as const), ...others]);
    const removed: [string, string | null][] = [];
    const take = (key: string): void => {
      if (this.#remove(key)) removed.push([key, values.get(key) ?? null]);
    };
    for (const head of this.line.slice(0, own.length + others.length)) {
      if (!values.has(head)) break;
      take(head);
    }
    // Behind the head a request is looked for only if its body says that it stands.
    for (const key of values.keys()) if (this.bodies.has(key)) take(key);
    this.#tell(removed);
    this.#mendWhatIsHandedOut(batch);
    if (this.line.length === 0) {
      this.#letGo();
      this.seats.clear();
      return { kind: "released" };
    }
    if (yieldTurn && this.#wake()) {
      this.#letGo();
      return { kind: "yielded" };
    }
    this.tries = 0;
    return { kind: "next", keys: this.line.slice(0, batch) };
  }

  leave(token: string): boolean {
    if (this.lock !== token) return false;
    this.#letGo();
    this.#mendIfUneven();
    if (this.line.length === 0) this.seats.clear();
    else this.#wake();
    return true;
  }

  stepBack(key: string, channel: string): string | null {
    const value = this.outcomes.get(key);
    if (value !== undefined) {
      this.outcomes.delete(key);
      this.old.delete(key);
      return value;
    }
    if (this.seats.get(key) === channel) {
      this.seats.delete(key);
      if (this.lock === null) this.#wake();
    }
    return null;
  }

  withdraw(key: string, value: string): boolean {
    this.#mendIfUneven();
    if (!this.line.includes(key)) return false;
    this.#remove(key);
    this.#tell([[key, value]]);
    return true;
  }

  sweepOutcomes(): number {
    const swept = [...this.old].filter((key) => this.outcomes.delete(key));
    this.old.clear();
    return swept.length;
  }

  #join(key: string): void {
    this.line.push(key);
    this.bodies.add(key);
  }

  #letGo(): void {
    this.lock = null;
    this.tries = 0;
  }

  #remove(key: string): boolean {
    const index = this.line.indexOf(key);
    if (index === -1) return false;
    this.line.splice(index, 1);
    this.bodies.delete(key);
    return true;
  }

  #tell(removed: readonly (readonly [key: string, value: string | null])[]): void {
    const words = new Map<string, string[]>();
    const seats = new Map(this.seats);
    for (const [key, value] of removed) {
      const channel = seats.get(key);
      this.seats.delete(key);
      if (value === null) continue;
      if (channel === undefined || !this.isLive(channel)) {
        this.outcomes.set(key, value);
        this.old.delete(key);
      } else words.set(channel, [...(words.get(channel) ?? ["settled", this.lcid]), key, value]);
    }
    for (const [channel, word] of words) this.told.push({ channel, word });
  }

  /** The first live seat in line; dead ones before it go. Lines here are shorter than the part that is looked at in order. */
  #wake(): boolean {
    const inLine = this.line.filter((key) => this.seats.has(key));
    const elsewhere = [...this.seats.keys()].filter((key) => !inLine.includes(key));
    for (const key of [...inLine, ...elsewhere]) {
      const channel = this.seats.get(key)!;
      if (this.isLive(channel)) {
        this.told.push({ channel, word: ["wake", this.lcid, key] });
        return true;
      }
      this.seats.delete(key);
    }
    return false;
  }

  #mendWhatIsHandedOut(batch: number): void {
    const first = this.line.slice(0, batch);
    if (first.some((key) => !this.bodies.has(key)) || new Set(first).size < first.length) this.#mend();
  }

  #mendIfUneven(): void {
    if (this.line.length !== this.bodies.size) this.#mend();
  }

  #mend(): void {
    this.line = [...new Set(this.line)].filter((key) => this.bodies.has(key));
    for (const key of this.bodies) if (!this.line.includes(key)) this.bodies.delete(key);
  }
}
