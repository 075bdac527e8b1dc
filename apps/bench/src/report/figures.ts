/** How figures are written on the page and in pictures: for people, in three or four digits, the unit behind. */

/** 12,730 */
export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** What a person would say: 4.06, 12.3, 339; never more than three digits behind the first. */
export function rounded(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return whole(value);
  return value.toFixed(size >= 10 ? 1 : 2);
}

/** 9.5 ×, for what is some times another. */
export function times(value: number): string {
  return `${rounded(value)} ×`;
}

/** 0.8 ms, 27 ms, 2.68 s, 60 s */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1_000) return `${Number((milliseconds / 1_000).toPrecision(3))} s`;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : whole(milliseconds)} ms`;
}

/** 96.4 MiB, 7.8 GiB */
export function bytes(count: number): string {
  const mebibytes = count / 1_048_576;
  return mebibytes >= 1_024 ? `${(mebibytes / 1_024).toFixed(1)} GiB` : `${mebibytes.toFixed(1)} MiB`;
}

/** 1 process, 4 processes */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${whole(count)} ${count === 1 ? one : many}`;
}

/** A cell of a table: a dash where there is no figure. */
export function cell(value: number | null | undefined, write: (value: number) => string = whole): string {
  return value === null || value === undefined ? "–" : write(value);
}
