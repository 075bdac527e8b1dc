import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { startProcess } from "@junban/sandbox";
import type { ProcessTree } from "@junban/sandbox";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";
import {
  authorized,
  environmentOf,
  eventsOf,
  freshLcid,
  freshPlace,
  idsOf,
  publish,
  rowsOf,
} from "./worker-lab.ts";
import type { Environment } from "./worker-lab.ts";

const LIMIT_MS = 120_000;
const SEAMS = fileURLToPath(new URL("worker-seams.process.ts", import.meta.url));

/** A worker whose log has a reader for its first line only. */
async function launchBehindHead(env: Environment): Promise<ProcessTree> {
  const tree = await startProcess({
    command: "sh",
    args: [
      "-c",
      '{ "$0" --import tsx --conditions @junban/source "$1"; echo "ended with $?" >&2; } | head -n 1',
      process.execPath,
      SEAMS,
    ],
    env: { PATH: process.env["PATH"], JUNBAN_HTTP_PORT: "0", ...env },
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  return tree;
}

/** A port of the loopback that somebody else has. */
async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe("a worker whose log has lost its reader", () => {
  test(
    "ends at once, and with 2, when its port is taken",
    async () => {
      const port = await takenPort();
      const place = await freshPlace();
      const tree = await launchBehindHead({ ...environmentOf(place), JUNBAN_HTTP_PORT: String(port) });
      await tree.waitForLine("cannot listen on");
      expect(await tree.waitForLine("ended with")).toBe("ended with 2");
    },
    LIMIT_MS,
  );

  test(
    "ends with 2 for a bad value, although nobody reads the complaint either",
    async () => {
      const place = await freshPlace();
      const tree = await startProcess({
        command: "sh",
        args: [
          "-c",
          '{ { "$0" --import tsx --conditions @junban/source "$1"; echo "ended with $?" >&3; } 2>&1 | true; } 3>&1',
          process.execPath,
          SEAMS,
        ],
        env: { PATH: process.env["PATH"], ...environmentOf(place), JUNBAN_LEASE_MS: "ten" },
      });
      onTestFinished(async () => {
        await tree.stop({ signal: "SIGKILL" });
      });
      expect(await tree.waitForLine("ended with")).toBe("ended with 2");
    },
    LIMIT_MS,
  );

  test(
    "waits for Redis no longer than it is asked to",
    async () => {
      const place = await freshPlace();
      // Nothing listens on port 1.
      const tree = await launchBehindHead({ ...environmentOf(place), REDIS_URL: "redis://127.0.0.1:1" });
      const { pid } = JSON.parse(await tree.waitForLine("waiting for Redis")) as { pid: number };
      process.kill(pid, "SIGTERM");
      expect(await tree.waitForLine("ended with")).toBe("ended with 0");
    },
    LIMIT_MS,
  );

  test(
    "serves on, through lines that it cannot write, and ends with 0 when it is asked to stop",
    async () => {
      const place = await freshPlace();
      const [good, bad] = [freshLcid(), freshLcid()];
      const tree = await launchBehindHead(environmentOf(place));
      const { pid } = JSON.parse(await tree.waitForLine("the worker serves")) as { pid: number };
      // An event that fails is worth a line.
      await publish(place, [...eventsOf(bad, 1), authorized(bad, { number: 1, ref: "throw" })]);
      await eventually(async () => (await rowsOf(place)).some(({ outcome }) => outcome === "failed"), {
        withinMs: 30_000,
      });
      await publish(place, eventsOf(good, 5));
      await eventually(async () => (await idsOf(place, good)).length === 5, { withinMs: 30_000 });
      process.kill(pid, "SIGTERM");
      expect(await tree.waitForLine("ended with")).toBe("ended with 0");
      expect(await idsOf(place, good)).toEqual(eventsOf(good, 5).map(({ id }) => id));
    },
    LIMIT_MS,
  );
});
