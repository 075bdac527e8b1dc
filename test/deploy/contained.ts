import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { startProcess, type ProcessTree } from "@junban/sandbox";
import { onTestFinished } from "vitest";
import { eventually } from "../support/index.ts";
import type { Image } from "./image.ts";

/** Why there are no containers here; null where there are. */
export const NO_NAMESPACES: string | null = reason();

function reason(): string | null {
  if (process.getuid?.() !== 0) return "only root makes a process the first of its namespace, and nobody";
  try {
    execFileSync(
      "unshare",
      ["--pid", "--fork", "--mount-proc", "setpriv", "--reuid=10001", "--clear-groups", "true"],
      {
        stdio: "pipe",
      },
    );
    return null;
  } catch (error) {
    return `this machine gives no namespaces: ${String(error).split("\n")[0]}`;
  }
}

/** A process under the conditions that the manifests ask for. */
export interface Contained {
  readonly tree: ProcessTree;
  /** Of the process itself, as this side sees it. */
  readonly pid: number;
}

/** Nothing can be written anywhere, then nobody special with no capability; exec, so that no shell stays in front. */
const CONTAIN = `set -e
for place in /tmp /var/tmp /dev/shm; do mount --bind "$place" "$place"; mount -o remount,ro,bind "$place"; done
mount -o remount,ro,bind /
cd "$FOLDER"
unset FOLDER
exec setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`;

export interface ContainedOptions {
  readonly image: Image;
  /** As the manifests have it, `node` first. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts a command as a container would: process 1 of its own, by the image's user, on files that it can only read. Without
 * namespaces it is started plainly, on the same files.
 */
export async function startContained({ image, command, env }: ContainedOptions): Promise<Contained> {
  const unshare = ["--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", CONTAIN, "sh"];
  const isContained = NO_NAMESPACES === null;
  const node = isContained ? image.node : process.execPath;
  const own = command.map((word, index) => (index === 0 && word === "node" ? node : word));
  const [program = "", ...args] = isContained ? ["unshare", ...unshare, ...own] : own;
  const tree = await startProcess({
    command: program,
    args,
    env: {
      PATH: process.env["PATH"],
      NODE_ENV: "production",
      ...(isContained ? { FOLDER: image.folder } : {}),
      ...env,
    },
    cwd: image.folder,
  });
  onTestFinished(async () => {
    await tree.stop({ signal: "SIGKILL" });
  });
  const pid = isContained ? await eventually(() => childrenOf(tree.pid)[0] ?? false) : tree.pid;
  return { tree, pid };
}

/** Also those that have ended and that nobody has asked about. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** The number of a process in each namespace that knows it, the innermost last. */
export function numbersOf(pid: number): number[] {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (/^NSpid:\s*(.+)$/m.exec(status)?.[1] ?? "").split(/\s+/).map(Number);
}
