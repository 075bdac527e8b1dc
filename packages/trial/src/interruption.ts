/** Rejects with the signal's reason as soon as it fires, and otherwise settles like `work`, which goes on by itself. */
export async function unlessAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  return new Promise<Result>((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", giveUp, { once: true });
    const settled = (): void => signal.removeEventListener("abort", giveUp);
    work.finally(settled).then(resolve, reject);
  });
}
