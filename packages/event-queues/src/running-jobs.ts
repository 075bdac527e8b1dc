import type { JobEnd } from "./job.ts";

/**
 * The jobs of one family that are being processed in this process, each once. A job whose lock lapsed while it was being
 * processed may be fetched again here; it then waits for the run under way and ends as that one ends.
 */
export class RunningJobs {
  readonly #runs = new Map<string, Promise<JobEnd>>();

  async once(jobId: string, start: () => Promise<JobEnd>): Promise<JobEnd> {
    const underWay = this.#runs.get(jobId);
    if (underWay !== undefined) return underWay;
    const run = start();
    this.#runs.set(jobId, run);
    try {
      return await run;
    } finally {
      this.#runs.delete(jobId);
    }
  }
}
