import { execFile } from "node:child_process";
import { chmod, constants, copyFile, cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { read, ROOT } from "./checkout.ts";

/** The steps of one stage of the Dockerfile. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly keyword: string;
  /** Everything behind the keyword and its flags. */
  readonly text: string;
  readonly flags: Readonly<Record<string, string>>;
}

/** Every instruction stands on a line of its own, which the test of the Dockerfile sees to. */
export function stages(): Stage[] {
  const found: { name: string; base: string; steps: Step[] }[] = [];
  for (const line of read("Dockerfile").split("\n")) {
    const [, keyword = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (keyword === "" || keyword === "ARG") continue;
    if (keyword === "FROM") {
      const [base = "", , name = ""] = rest.split(" ");
      found.push({ name, base, steps: [] });
      continue;
    }
    const flags = [...rest.matchAll(/--(from|mount)=(\S+) /g)].map(([, flag = "", value = ""]) => [
      flag,
      value,
    ]);
    const text = rest.replace(/^(?:--(?:from|mount)=\S+ )*/, "");
    found.at(-1)?.steps.push({ keyword, text, flags: Object.fromEntries(flags) as Step["flags"] });
  }
  return found;
}

export interface Image {
  /** Stands for /app. */
  readonly folder: string;
  /** Stands for the image's own `node`. */
  readonly node: string;
  remove(): Promise<void>;
}

/**
 * The last stage's files, made by the steps of the Dockerfile: its copies, and its installation of what production needs. Of the
 * build, which compiles this checkout, the checkout itself has the results.
 */
export async function makeImage(): Promise<Image> {
  const root = await mkdtemp(join(tmpdir(), "junban-image-"));
  // The image's user has to get in.
  await chmod(root, 0o755);
  const remove = async (): Promise<void> => rm(root, { recursive: true, force: true });
  try {
    const folders = new Map([["build", ROOT]]);
    for (const stage of stages()) {
      if (stage.name === "build") continue;
      const folder = join(root, stage.name === "" ? "app" : stage.name);
      await mkdir(folder);
      for (const step of stage.steps) await take(step, folder, folders);
      folders.set(stage.name, folder);
    }
    const node = join(root, "node");
    // A copy, since the user may not be allowed to where this one lies.
    await copyFile(process.execPath, node, constants.COPYFILE_FICLONE);
    return { folder: join(root, "app"), node, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function take(
  { keyword, text, flags }: Step,
  folder: string,
  folders: ReadonlyMap<string, string>,
): Promise<void> {
  if (keyword === "RUN") await run(text, folder);
  if (keyword !== "COPY") return;
  const words = text.split(" ");
  const to = words.pop() ?? "";
  const from = flags["from"] === undefined ? ROOT : (folders.get(flags["from"]) ?? "");
  for (const word of words) {
    const source = join(from, word.replace(/^\/app\/?/, ""));
    const target =
      to.endsWith("/") && source !== from ? join(folder, to, basename(source)) : join(folder, to);
    await mkdir(dirname(target), { recursive: true });
    // Links between workspaces stay relative, as Docker leaves them.
    await cp(source, target, { recursive: true, verbatimSymlinks: true });
  }
}

async function run(command: string, folder: string): Promise<void> {
  // The npm that runs this test speaks of its own place in these.
  const foreign = /^(npm_(config_local_prefix|package_|lifecycle_|command)|INIT_CWD$|NODE_)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  await promisify(execFile)("sh", ["-c", command], {
    cwd: folder,
    env: { ...env, npm_config_prefer_offline: "true" },
    timeout: 120_000,
  });
}
