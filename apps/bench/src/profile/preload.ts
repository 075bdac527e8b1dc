/**
 * Loaded into a process before its own program (`node --import`). The first SIGUSR2 starts V8's sampling, the second one ends it
 * and writes the profile to the file named by BENCH_PROFILE; a line on stdout tells when each has happened.
 */
import { writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";

const SAMPLE_EVERY_US = 200;

const file = process.env["BENCH_PROFILE"];
if (file === undefined) throw new TypeError("BENCH_PROFILE is not set");

async function start(session: Session): Promise<void> {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_EVERY_US });
  await session.post("Profiler.start");
  process.stdout.write("profile: sampling\n");
}

async function finish(session: Session, path: string): Promise<void> {
  const { profile } = await session.post("Profiler.stop");
  session.disconnect();
  await writeFile(path, JSON.stringify(profile));
  process.stdout.write("profile: written\n");
}

process.once("SIGUSR2", () => {
  const session = new Session();
  process.once("SIGUSR2", () => void finish(session, file));
  void start(session);
});
