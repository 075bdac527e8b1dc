import type { CommandOptions } from "./commands.ts";

/** What installing touches, so that a test can play another machine. */
export interface Machine {
  readonly uid: number;
  readonly platform: NodeJS.Platform;
  /** Runs a command without a terminal; answers its standard output, throws when it fails. */
  run(file: string, args: readonly string[], options?: CommandOptions): Promise<string>;
  say(line: string): void;
}

export interface SystemPackage {
  /** For people, such as "Redis server". */
  readonly what: string;
  readonly debian: string;
  readonly brew: string;
}

const INSTALL_TIMEOUT_MS = 300_000;

/** Installs a package with apt (as root or through sudo -n) or brew. Whether that worked; what did not goes to `tried`. */
export async function installPackage(
  machine: Machine,
  { wanted, tried }: { readonly wanted: SystemPackage; readonly tried: string[] },
): Promise<boolean> {
  for (const command of installCommands(machine, wanted)) {
    const line = command.join(" ");
    machine.say(`sandbox: no ${wanted.what} found, installing one: ${line}`);
    const [file = "", ...args] = command;
    try {
      await machine.run(file, args, { timeoutMs: INSTALL_TIMEOUT_MS });
      return true;
    } catch {
      tried.push(line);
    }
  }
  return false;
}

function installCommands(
  { platform, uid }: Machine,
  { debian, brew }: SystemPackage,
): readonly (readonly string[])[] {
  if (platform === "darwin") return [["brew", "install", brew]];
  if (platform !== "linux") return [];
  const prefix = uid === 0 ? [] : ["sudo", "-n"];
  const apt = [
    ...prefix,
    "env",
    "DEBIAN_FRONTEND=noninteractive",
    "apt-get",
    "-q",
    "-y",
    "-o",
    "DPkg::Lock::Timeout=120",
  ];
  const packages = ["install", "--no-install-recommends", debian];
  // The first line works where package lists are at hand; slim images come without them.
  return [
    [...apt, ...packages],
    ["sh", "-c", `${[...apt, "update"].join(" ")} && ${[...apt, ...packages].join(" ")}`],
  ];
}
