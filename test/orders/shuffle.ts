/** Fisher and Yates, with dice that a property can print and roll again. */
export function shuffled<Value>(values: readonly Value[], dice: Iterator<number>): Value[] {
  const result = [...values];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Number(dice.next().value) % (last + 1);
    [result[last], result[other]] = [result[other]!, result[last]!];
  }
  return result;
}
