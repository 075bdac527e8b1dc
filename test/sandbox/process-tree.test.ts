import {
  DeadlineError,
  type ProcessTree,
  ProcessEndedError,
  SpawnError,
  startProcess,
  stillRunning,
  treeMembers,
} from "@junban/sandbox";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/index.ts";

async function shell(script: string, options: { input?: string } = {}): Promise<ProcessTree> {
  const tree = await startProcess({ command: "sh", args: ["-c", script], ...options });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL", graceMs: 0 });
  });
  return tree;
}

test("reads both outputs, and tells how it ended", async () => {
  const tree = await shell("echo out; echo err >&2; exit 3");
  expect(await tree.exited).toEqual({ code: 3, signal: null });
  expect([tree.stdout(), tree.stderr()]).toEqual(["out\n", "err\n"]);
  const lines: string[] = [];
  for await (const line of tree.lines) lines.push(line);
  expect(lines.toSorted()).toEqual(["err", "out"]);
});

test("hands its input over", async () => {
  const tree = await shell("cat", { input: "one\ntwo\n" });
  await tree.exited;
  expect(tree.stdout()).toBe("one\ntwo\n");
});

test("waits for a line, also for one that has passed already", async () => {
  const tree = await shell("echo ready on 4711; sleep 600");
  expect(await tree.waitForLine(/ready on \d+/g)).toBe("ready on 4711");
  expect(await tree.waitForLine("4711")).toBe("ready on 4711");
  expect(await tree.waitForLine((line) => line.startsWith("ready"))).toBe("ready on 4711");
  await expect(tree.waitForLine("never", { withinMs: 50 })).rejects.toBeInstanceOf(DeadlineError);
});

test("a process that ends while a line is awaited is told at once, with its last words", async () => {
  const tree = await shell("echo last words; exit 7");
  const failure = await tree.waitForLine("never").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ProcessEndedError);
  expect((failure as ProcessEndedError).exitCode).toBe(7);
  expect((failure as ProcessEndedError).message).toContain("last words");
});

test("stop ends children and grandchildren, those in groups of their own included", async () => {
  const grandchild = `require("child_process").spawn("sleep",["600"],{detached:true,stdio:"ignore"});console.log("up");setInterval(()=>{},1000)`;
  const tree = await shell(`sleep 600 & "${process.execPath}" -e '${grandchild}'; sleep 600`);
  await tree.waitForLine("up");
  const members = await eventually(() => {
    const found = treeMembers(tree.pid);
    return found.length >= 4 && found;
  });
  expect(members.some((member) => member.groupId !== tree.pid)).toBe(true);
  expect(tree.size()).toBe(members.length);
  await tree.stop({ graceMs: 500 });
  expect(stillRunning(members)).toEqual([]);
  expect(tree.size()).toBe(0);
});

test("a leader that ends on its signal takes the others along without waiting for the grace", async () => {
  const tree = await shell(
    "sleep 600 & sleep 600 & trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done",
  );
  await tree.waitForLine("up");
  expect(await tree.stop({ graceMs: 60_000 })).toEqual({ code: 5, signal: null });
  expect(tree.size()).toBe(0);
});

test("one that ignores its signal is killed when the grace is over", async () => {
  const tree = await shell("trap '' TERM; echo up; while :; do sleep 0.05; done");
  await tree.waitForLine("up");
  expect(await tree.stop({ graceMs: 200 })).toEqual({ code: null, signal: "SIGKILL" });
});

test("one that is stopped with SIGSTOP ends within its grace", async () => {
  const tree = await shell("echo up; exec sleep 600");
  await tree.waitForLine("up");
  tree.signal("SIGSTOP");
  expect(await tree.stop({ graceMs: 20_000 })).toEqual({ code: null, signal: "SIGTERM" });
});

test("SIGKILL reaches every member at once; stop afterwards and twice is harmless", async () => {
  const tree = await shell("sleep 600 & sleep 600 & echo up; wait");
  await tree.waitForLine("up");
  const members = await eventually(() => {
    const found = treeMembers(tree.pid);
    return found.length >= 3 && found;
  });
  tree.signal("SIGKILL");
  expect(await tree.exited).toEqual({ code: null, signal: "SIGKILL" });
  await eventually(() => stillRunning(members).length === 0);
  await tree.stop();
  await tree.stop();
});

test("what a leader left behind is ended although the leader has gone long ago", async () => {
  const tree = await shell("sleep 600 >/dev/null 2>&1 & echo up");
  await tree.exited;
  expect(tree.size()).toBe(1);
  await tree.stop();
  expect(tree.size()).toBe(0);
});

test("a command that does not exist is a typed error", async () => {
  await expect(startProcess({ command: "/nowhere/at/all" })).rejects.toBeInstanceOf(SpawnError);
});
