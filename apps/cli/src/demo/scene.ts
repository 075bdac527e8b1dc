import type { CrewMember } from "@junban/trial";
import type { Reading } from "./readings.ts";

/** One look at the run: all that a view needs to know, and nothing it could change. */
export interface Scene {
  /** What is going on, as a half sentence. */
  readonly doing: string;
  readonly elapsedMs: number;
  readonly orders: number;
  readonly published: number;
  readonly toPublish: number;
  /** Events that will have a row in the end. */
  readonly toDecide: number;
  readonly reading: Reading | null;
  readonly rates: readonly number[];
  readonly hotLcid: string;
  readonly crew: readonly CrewMember[];
}

/** Shows a run while it goes on. */
export interface View {
  /** Something worth a line that stays. */
  note(text: string): void;
  /** How often `show` wants to be called, in milliseconds. */
  readonly everyMs: number;
  show(scene: Scene): void;
  /** Leaves the terminal as it was found. May be called twice. */
  end(): void;
}

export function clock(elapsedMs: number): string {
  const seconds = Math.floor(elapsedMs / 1_000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
