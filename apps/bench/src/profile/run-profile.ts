import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EventEnvelope } from "@junban/orders";
import { STATEMENT_TIMES, startSandbox } from "@junban/sandbox";
import type { Contender } from "../contenders/contender.ts";
import { flameSvg } from "./flame.ts";
import { profileOf, type ProfileOptions } from "./profile.ts";
import { reportOf, reportText } from "./report.ts";

export interface RunProfileOptions extends Pick<ProfileOptions, "warmUp"> {
  readonly folder: string;
  readonly workload: string;
  readonly events: readonly EventEnvelope[];
  readonly contenders: readonly Contender[];
  /** A contender that has not worked off the events by then is a failure. */
  readonly withinMs: number;
}

/**
 * Profiles one contender after the other, each on servers of its own, and writes for each a flame graph, the text that is
 * answered, the same as JSON, and V8's own profile, which a browser's developer tools open.
 */
export async function runProfile(options: RunProfileOptions): Promise<string> {
  const { folder, workload, events, contenders } = options;
  await mkdir(folder, { recursive: true });
  const texts: string[] = [];
  const reports = [];
  for (const contender of contenders) {
    const sandbox = await startSandbox({ postgres: { settings: STATEMENT_TIMES } });
    try {
      const profile = await profileOf(contender, { ...options, sandbox, prefix: "profile" });
      const report = reportOf(profile);
      const title = `${contender.name}, ${workload}, ${events.length} events: where the main thread's time went`;
      await writeFile(join(folder, `${contender.name}.svg`), flameSvg(profile.calls.root, { title }));
      texts.push(`${workload}, ${reportText(report)}`);
      reports.push(report);
    } finally {
      await sandbox.stop();
    }
  }
  const text = texts.join("\n");
  await writeFile(join(folder, "profile.txt"), text);
  await writeFile(
    join(folder, "profile.json"),
    `${JSON.stringify({ workload, contenders: reports }, null, 1)}\n`,
  );
  return text;
}
