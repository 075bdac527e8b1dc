/** The value in the middle, or half-way between the two there. NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length / 2;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  return low === high ? low : (low + high) / 2;
}

/** The smallest value that so many of a hundred do not exceed. NaN of nothing. */
export function percentile(values: readonly number[], of100: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil((of100 / 100) * sorted.length) - 1)] ?? Number.NaN;
}
