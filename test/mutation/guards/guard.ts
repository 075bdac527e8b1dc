/** One place where the product protects a promise, what stands there when it does not, and the tests that must notice. */
export interface Guard extends Edit {
  /** What holds because of it, as a sentence without its full stop; names the guard everywhere. */
  readonly promise: string;
  /** Places that have to change together with the first, when taking it out needs more than one. */
  readonly and?: readonly Edit[];
  /** Asked one after another until one goes red: the narrowest first. */
  readonly tests: readonly TestChoice[];
  /** Without it something waits for ever, and a test's own time limit is how that shows. */
  readonly hangs?: boolean;
}

export interface Edit {
  /** Relative to the checkout. */
  readonly file: string;
  /** The text as it stands there. */
  readonly guard: string;
  /** How often it stands there; default 1. Each of them is taken out. */
  readonly times?: number;
  /** What stands there instead once the guard is out. */
  readonly without: string;
}

/** A test file, or those of its tests whose full name (the groups around it included) holds `title`. */
export interface TestChoice {
  readonly file: string;
  readonly title?: string;
}

export function editsOf({ file, guard, times, without, and = [] }: Guard): readonly Edit[] {
  return [{ file, guard, without, ...(times === undefined ? {} : { times }) }, ...and];
}

/** What is wrong with a guard's description of the source, in words; empty when every text stands where it is said to. */
export function misdescribed(guard: Guard, read: (path: string) => string): string[] {
  return editsOf(guard).flatMap((edit) => {
    const { times = 1 } = edit;
    const found = read(edit.file).split(edit.guard).length - 1;
    if (found === times) return [];
    return [
      `“${guard.promise}”: its text stands ${found} times in ${edit.file}, not ${times}: ${edit.guard}`,
    ];
  });
}

/** Every file a guard touches, with its text once the guard is out. */
export function textsWithout(guard: Guard, read: (path: string) => string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, guard: text, without } of editsOf(guard)) {
    texts.set(
      file,
      (texts.get(file) ?? read(file)).replaceAll(text, () => without),
    );
  }
  return texts;
}
