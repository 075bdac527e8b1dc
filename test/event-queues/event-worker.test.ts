import type { Job } from "bullmq";
import { describe, expect, onTestFinished, test } from "vitest";
import { CorkedWrites } from "../../packages/event-queues/src/corked-writes.ts";
import { EndsUnderWay } from "../../packages/event-queues/src/ends-under-way.ts";
import { EventWorker } from "../../packages/event-queues/src/event-worker.ts";
import type { JobEnd } from "../../packages/event-queues/src/job.ts";
import { eventually, freshRedis } from "../support/index.ts";
import { addJobs, connectTo, openPlainQueues, openReader } from "./setting.ts";
import type { Corner } from "./setting.ts";

interface StartedWorker {
  readonly worker: EventWorker;
  readonly ids: string[];
  readonly errors: unknown[];
}

function startWorker(corner: Corner, end: JobEnd = { kind: "completed" }): StartedWorker {
  const client = connectTo(corner);
  const ids: string[] = [];
  const errors: unknown[] = [];
  const worker = new EventWorker({
    queueName: "{payment}",
    prefix: corner.prefix,
    concurrency: 4,
    lockDurationMs: 1_000,
    keepFailed: 10,
    client,
    blockingClient: connectTo(corner),
    writes: new CorkedWrites(client),
    underWay: new EndsUnderWay(),
    run: async (job: Job<unknown, JobEnd>) => {
      ids.push(job.id ?? "");
      return end;
    },
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => worker.close());
  worker.keepFetching();
  return { worker, ids, errors };
}

describe("a worker whose job has ended", () => {
  test("does not fail the job because its end could not be written; it comes again", async () => {
    const corner = freshRedis();
    const { worker, ids, errors } = startWorker(corner);
    const backend = worker.getBackend();
    const moveToCompleted = backend.moveToCompleted.bind(backend);
    let isRefusing = true;
    backend.moveToCompleted = async (...ending) => {
      if (isRefusing) {
        isRefusing = false;
        throw new Error("NOPERM this user may not");
      }
      return moveToCompleted(...ending);
    };

    const [id] = await addJobs(openPlainQueues(corner), "payment", 1);

    await eventually(() => ids.length === 2, { withinMs: 20_000 });
    expect(ids).toEqual([id, id]);
    expect(errors[0]).toMatchObject({ message: "NOPERM this user may not" });
    const redis = corner.connect();
    await eventually(async () => (await redis.exists(`${corner.prefix}:{payment}:${id}`)) === 0);
    expect((await openReader(corner).counts()).payment.failed).toBe(0);
  });
});

describe("a job that another worker has given up", () => {
  test("is processed all the same: a crash is no failure of the job", async () => {
    const corner = freshRedis();
    const [id] = await addJobs(openPlainQueues(corner), "payment", 1);
    await corner
      .connect()
      .hset(`${corner.prefix}:{payment}:${id}`, "defa", "job stalled more than allowable limit");

    const { ids } = startWorker(corner);

    await eventually(() => ids.length === 1);
    await eventually(async () => {
      expect((await openReader(corner).counts()).payment).toMatchObject({ active: 0, failed: 0 });
    });
  });
});

describe("a worker whose loop has ended unnoticed", () => {
  test("fetches again when it is looked after", async () => {
    const corner = freshRedis();
    const { worker, ids } = startWorker(corner);
    await worker.waitUntilReady();
    await worker.pause(true);
    await eventually(() => !worker.isRunning(), { withinMs: 20_000 });
    // What a resume leaves behind that comes between the loop's last look and its end.
    (worker as unknown as { paused: boolean }).paused = false;
    await addJobs(openPlainQueues(corner), "payment", 1);

    worker.keepFetching();

    await eventually(() => ids.length === 1);
  });
});
