import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProcess, type ProcessTree } from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { JUNBAN, openShell } from "./junban.ts";

/** The command as a shell starts it, wherever its input comes from and its output goes. */
async function inShell(script: string, over: Readonly<Record<string, string>> = {}): Promise<ProcessTree> {
  const { databaseUrl, redisUrl, prefix } = await openShell();
  const tree = await startProcess({
    command: "/bin/sh",
    args: ["-c", script],
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      JUNBAN_PREFIX: prefix,
      NODE: process.execPath,
      JUNBAN,
      ...over,
    },
  });
  onTestFinished(async () => void (await tree.stop({ signal: "SIGKILL" })));
  return tree;
}

test("publish ends at the first Ctrl-C although nobody writes to its input any more, and says how far it came", async () => {
  const folder = await mkdtemp(join(tmpdir(), "junban-test-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  // Opened for both, so that it has no end.
  const script =
    'mkfifo "$PIPE"; exec 3<>"$PIPE"; yes x | head -n 1000 >&3; exec "$NODE" "$JUNBAN" publish - <&3';
  const tree = await inShell(script, { PIPE: join(folder, "pipe") });
  await tree.waitForLine(/^line 1000: /u);
  tree.signal("SIGINT");
  expect(await tree.exited).toEqual({ code: 1, signal: null });
  expect(tree.stderr()).toMatch(/^all up to line 1000 is accounted for; .*\ninterrupted$/mu);
});

test("Ctrl-C while a service is waited for is called that", async () => {
  const tree = await inShell('exec "$NODE" "$JUNBAN" status', {
    DATABASE_URL: "postgres://nobody@127.0.0.1:1/x",
  });
  await tree.waitForLine(/^waiting for Postgres/u);
  tree.signal("SIGINT");
  expect(await tree.exited).toEqual({ code: 1, signal: null });
  expect(tree.stderr().trimEnd().split("\n").at(-1)).toBe("interrupted");
});

test("what is wrong is told by the exit code although nobody reads the output", async () => {
  const tree = await inShell('{ "$NODE" "$JUNBAN" doctor; echo "ended with $?" >&2; } | true');
  await tree.exited;
  // The run's own Redis keeps no file, which is wrong anywhere else.
  expect(tree.stderr().trimEnd()).toBe("ended with 1");
});

test("an output that cannot be written is one sentence, and wrong", async () => {
  const tree = await inShell('exec "$NODE" "$JUNBAN" updates > /dev/full');
  expect((await tree.exited).code).toBe(1);
  const said = tree.stderr().trimEnd().split("\n");
  expect(said.filter((line) => line.startsWith("standard output cannot be written: ENOSPC"))).toHaveLength(1);
  expect(said.filter((line) => /^\s+at /u.test(line))).toEqual([]);
});
