import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { editsOf, textsWithout } from "./guards/guard.ts";
import type { Guard } from "./guards/guard.ts";

const NOT_COPIED: ReadonlySet<string> = new Set(["node_modules", "dist", ".git", "coverage"]);

/**
 * A copy of the checkout as it stands, uncommitted changes included, in which a guard can be taken out without anybody else
 * seeing it. Installed packages are those of the checkout; its own packages are the copy's.
 */
export class TreeCopy {
  readonly folder: string;
  readonly #root: string;

  private constructor(folder: string, root: string) {
    this.folder = folder;
    this.#root = root;
  }

  static async of(root: string): Promise<TreeCopy> {
    const copy = new TreeCopy(await mkdtemp(join(tmpdir(), "junban-mutation-")), root);
    try {
      // Servers that tests start under another account have to reach it.
      await chmod(copy.folder, 0o755);
      await cp(root, copy.folder, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
      await copy.#link("node_modules");
      for (const kind of ["packages", "apps"]) {
        for (const workspace of await readdir(join(root, kind))) {
          await copy.#link(join(kind, workspace, "node_modules"));
        }
      }
      return copy;
    } catch (error) {
      await copy.remove();
      throw error;
    }
  }

  /** Runs `work` while the guard is out of the copy, and puts it back whatever happens. */
  async without<Result>(guard: Guard, work: () => Promise<Result>): Promise<Result> {
    const before = new Map<string, string>();
    for (const file of new Set(editsOf(guard).map((edit) => edit.file))) {
      before.set(file, await readFile(join(this.folder, file), "utf8"));
    }
    const after = textsWithout(guard, (path) => before.get(path) ?? "");
    try {
      for (const [file, text] of after) await writeFile(join(this.folder, file), text);
      return await work();
    } finally {
      for (const [file, text] of before) await writeFile(join(this.folder, file), text);
    }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /**
   * Every installed package by a link, so that nothing is installed twice. The links between our own packages are relative
   * and are made again, or they would lead out of the copy. What tools keep there for themselves is left out.
   */
  async #link(modules: string): Promise<void> {
    const installed = await readdir(join(this.#root, modules), { withFileTypes: true }).catch(() => []);
    if (installed.length > 0) await mkdir(join(this.folder, modules));
    for (const { name } of installed) {
      const from = join(this.#root, modules, name);
      const to = join(this.folder, modules, name);
      if (name === "@junban") {
        await mkdir(to);
        for (const own of await readdir(from)) await symlink(await readlink(join(from, own)), join(to, own));
      } else if (name === ".bin" || !name.startsWith(".")) {
        await symlink(from, to);
      }
    }
  }
}
