/** The same items, another one first each round, so that none always finds the machine as the one before it left it. */
export function inTurn<Item>(items: readonly Item[], round: number): readonly Item[] {
  const first = items.length === 0 ? 0 : round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/** Everything measured so far, by name of what was measured. */
export class Rounds<Measured> {
  readonly #of = new Map<string, Measured[]>();

  add(name: string, measured: Measured): void {
    const others = this.#of.get(name);
    if (others === undefined) this.#of.set(name, [measured]);
    else others.push(measured);
  }

  of(name: string): readonly Measured[] {
    return this.#of.get(name) ?? [];
  }
}
