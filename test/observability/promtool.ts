import { execFile } from "node:child_process";
import { access, copyFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/promtool", import.meta.url));
const DOWNLOAD_MS = 300_000;

/**
 * Prometheus' own checker. No npm package has it: it is taken from PATH, or out of Debian's package, which is unpacked and not
 * installed, since installing it would start a server.
 */
export async function findPromtool(): Promise<string> {
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "promtool"));
  const kept = join(CACHE, "promtool");
  for (const file of [...onPath, kept]) {
    if (await works(file)) return file;
  }
  const tried: string[] = [];
  for (const get of [unpackDebian, updateAndUnpack, installWithBrew]) {
    try {
      const file = await get(kept);
      if (await works(file)) return file;
    } catch (error) {
      tried.push(String(error).slice(0, 300));
    }
  }
  throw new Error(
    `promtool is needed to check deploy/prometheus and could not be had.\nInstall Prometheus (Debian: apt-get install prometheus; macOS: brew install prometheus), or put promtool into PATH.\nTried: ${tried.join("; ")}`,
  );
}

/** Runs it to its end; answers what it said, and throws that when it found something wrong. */
export async function promtool(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(await findPromtool(), args, { timeout: 60_000 });
  return `${stdout}${stderr}`;
}

async function works(file: string): Promise<boolean> {
  try {
    await access(file);
    await run(file, ["--version"], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

async function unpackDebian(kept: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "junban-promtool-"));
  try {
    await run("apt-get", ["-q", "download", "prometheus"], { cwd: folder, timeout: DOWNLOAD_MS });
    const archive = (await readdir(folder)).find((name) => name.endsWith(".deb")) ?? "";
    await run("dpkg-deb", ["-x", archive, "unpacked"], { cwd: folder, timeout: DOWNLOAD_MS });
    await mkdir(CACHE, { recursive: true });
    // Two runs may get here at once; each puts a whole file there in one step.
    const whole = `${kept}-${process.pid}`;
    await copyFile(join(folder, "unpacked/usr/bin/promtool"), whole);
    await rename(whole, kept);
    return kept;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Slim images come without package lists. */
async function updateAndUnpack(kept: string): Promise<string> {
  const [file, prefix] = process.getuid?.() === 0 ? ["apt-get", []] : ["sudo", ["-n", "apt-get"]];
  await run(file, [...prefix, "-q", "update"], { timeout: DOWNLOAD_MS });
  return unpackDebian(kept);
}

async function installWithBrew(): Promise<string> {
  await run("brew", ["install", "prometheus"], { timeout: DOWNLOAD_MS });
  const { stdout } = await run("brew", ["--prefix"], { timeout: 60_000 });
  return join(stdout.trim(), "bin", "promtool");
}
