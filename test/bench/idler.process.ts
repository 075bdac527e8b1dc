/** A contender that takes jobs, as it says, does none of them, and ends after so long. */
import { setTimeout as pause } from "node:timers/promises";

process.stdout.write("started\n");
await pause(Number(process.env["IDLES_MS"]));
process.stderr.write("worn out\n");
