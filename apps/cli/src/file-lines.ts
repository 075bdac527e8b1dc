/** One line of a file, counted from 1. `text` is null where it is too long or not UTF-8; `problem` says which. */
export type FileLine =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly text: null; readonly problem: string };

const NEWLINE = 0x0a;

/**
 * Splits a stream into lines without ever holding more than `maxBytes` of one: a longer line is passed over to its end and
 * reported, so that one bad line costs neither memory nor its neighbours. Blank lines are counted but not given.
 */
export async function* fileLines(
  stream: AsyncIterable<Buffer>,
  { maxBytes }: { maxBytes: number },
): AsyncIterable<FileLine> {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      const line = lineOf({
        number,
        parts: keep(parts, chunk.subarray(from, at), length, maxBytes),
        length: length + at - from,
        maxBytes,
      });
      if (line !== null) yield line;
      number += 1;
      parts = [];
      length = 0;
      from = at + 1;
    }
    parts = keep(parts, chunk.subarray(from), length, maxBytes);
    length += chunk.length - from;
  }
  const last = lineOf({ number, parts, length, maxBytes });
  if (last !== null) yield last;
}

function keep(parts: Buffer[], more: Buffer, length: number, maxBytes: number): Buffer[] {
  return length + more.length > maxBytes ? [] : [...parts, more];
}

function lineOf({
  number,
  parts,
  length,
  maxBytes,
}: {
  number: number;
  parts: Buffer[];
  length: number;
  maxBytes: number;
}): FileLine | null {
  if (length > maxBytes) return { number, text: null, problem: `longer than ${maxBytes} bytes` };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    return { number, text: null, problem: "not UTF-8" };
  }
  return text.trim() === "" ? null : { number, text };
}
