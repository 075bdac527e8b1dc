import { pathToFileURL } from "node:url";
import type { Contender } from "../../contenders/contender.ts";
import { processScript } from "../../contenders/process-script.ts";
import { RECOVERY_SETTINGS, type RecoveryArm } from "../../contenders/recovery-settings.ts";

/** One contender with one choice of its settings. */
export interface Arm extends RecoveryArm {
  readonly contender: Contender;
  readonly settings: "defaults" | "best";
}

/** None for those that cannot be asked: they apply nothing, or have nothing to set. */
export function armsOf(contender: Contender): readonly Arm[] {
  const known = RECOVERY_SETTINGS[contender.name];
  if (known === undefined || !contender.applies) return [];
  const preload = contender.name === "junban" ? preloadEnv() : {};
  return (["defaults", "best"] as const).map((settings) => {
    const { env, ...arm } = known[settings];
    return { contender, settings, ...arm, env: { ...env, ...preload } };
  });
}

/** The peers' processes are the bench's own and know what is to go wrong; Junban's is the real one and has to be told. */
function preloadEnv(): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=${pathToFileURL(processScript("junban-mishap")).href}` };
}
