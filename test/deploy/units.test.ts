import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { read, ROOT } from "./checkout.ts";
import { UNITS, unit } from "./launches.ts";
import { isOnPath } from "./on-path.ts";

/** Of the exposure that systemd reckons with, from 0 to 10. What it calls OK ends at 4. */
const MOST_EXPOSURE = 1.5;

describe("the units", () => {
  test("are those that start the processes", () => {
    const files = readdirSync(`${ROOT}deploy/systemd`).filter((name) => name.endsWith(".service"));
    expect(files.toSorted()).toEqual(UNITS.map((name) => `junban-${name}.service`).toSorted());
  });

  test("are understood by systemd, with every setting in them", (context) => {
    if (!isOnPath("systemd-analyze")) return context.skip("systemd-analyze is not installed");
    const { folder, paths } = installed();
    // Complaints about a setting are warnings, and leave the exit code at 0.
    const said = analyze(["verify", "--man=no", ...paths]);
    expect(said.replaceAll(folder, "")).toBe("");
  });

  test("leave a process no more of its host than it needs", (context) => {
    if (!isOnPath("systemd-analyze")) return context.skip("systemd-analyze is not installed");
    for (const path of installed().paths) {
      const said = analyze(["security", "--offline=true", "--no-pager", path]);
      expect(Number(/exposure level for \S+ ([\d.]+)/.exec(said)?.[1]), path).toBeLessThanOrEqual(
        MOST_EXPOSURE,
      );
    }
  });

  test.each(UNITS)(
    "%s runs as nobody who exists elsewhere, and takes its secrets from a file that only root reads",
    (name) => {
      const settings = unit(name);
      const told = (key: string): readonly string[] => settings.get(key) ?? [];
      expect(told("DynamicUser")).toEqual(["yes"]);
      expect(told("ProtectSystem")).toEqual(["strict"]);
      expect(told("NoNewPrivileges")).toEqual(["yes"]);
      expect(told("CapabilityBoundingSet")).toEqual([""]);
      expect(told("EnvironmentFile")[0]).toBe("/etc/junban/junban.env");
      expect(told("Environment").join(" ")).not.toMatch(/_URL|SECRET|TOKENS=/);
      expect(told("ExecStart")).toHaveLength(1);
      // Only what runs on is started again, and not when its settings are wrong.
      const again = name === "migrate" ? [] : ["always"];
      expect([told("Restart"), told("RestartPreventExitStatus")]).toEqual([
        again,
        name === "migrate" ? [] : ["2"],
      ]);
    },
  );
});

/** The units as they would stand on a host of their own, an instance of the worker among them. */
function installed(): { folder: string; paths: string[] } {
  const folder = mkdtempSync(join(tmpdir(), "junban-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const paths = UNITS.map((name) => {
    const path = join(folder, `junban-${name.replace("@", "@9464")}.service`);
    // systemd looks whether the program is there; here Node lies elsewhere.
    writeFileSync(
      path,
      read(`deploy/systemd/junban-${name}.service`).replace("/usr/bin/node", process.execPath),
    );
    return path;
  });
  return { folder, paths };
}

function analyze(args: readonly string[]): string {
  const [program, ...rest] = ["systemd-analyze", ...args];
  return execFileSync("sh", ["-c", '"$@" 2>&1', "sh", program ?? "", ...rest], { encoding: "utf8" });
}
