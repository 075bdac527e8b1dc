import { spawn } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { SpawnError } from "./errors.ts";

/** Watches over one process group on behalf of this process. */
export interface Keeper {
  watch(pid: number): void;
  forget(): void;
  /** Everything was tidied up: the keeper leaves. */
  release(): void;
}

export interface KeeperOptions {
  signal: NodeJS.Signals;
  graceMs: number;
  folder?: string;
}

/**
 * Starts a small shell that notices the end of this process, even by SIGKILL, ends the watched group and removes the folder.
 * Start it before the thing it keeps, so that there is no moment in which nobody would tidy up.
 */
export async function startKeeper(options: KeeperOptions): Promise<Keeper> {
  const script = fileURLToPath(new URL("../sh/keeper.sh", import.meta.url));
  const args = [script, options.signal.slice("SIG".length), String(Math.ceil(options.graceMs / 100))];
  if (options.folder !== undefined) args.push(options.folder);
  // A group of its own: Ctrl-C reaches the whole foreground group, and the keeper must outlive it.
  const child = spawn("/bin/sh", args, { cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => reject(new SpawnError({ command: "/bin/sh" }, { cause })));
  });
  // Somebody may have ended the keeper by hand; what it kept is then tidied up by us alone.
  child.stdin.on("error", () => undefined);
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  const tell = (line: string): void => {
    if (child.stdin.writable) child.stdin.write(`${line}\n`);
  };
  return {
    watch: (pid) => tell(`watch ${pid}`),
    forget: () => tell("forget"),
    release: () => {
      tell("release");
      child.stdin.end();
    },
  };
}
