/**
 * Before `npm test`: provides the programs that tests use, one after another, since two installations at once stand in each
 * other's way. A single test file run by itself provides its own.
 */
import { findProgram } from "@junban/sandbox";
import { PROGRAMS } from "./programs.ts";

for (const program of Object.values(PROGRAMS)) {
  try {
    await findProgram(program);
  } catch (error) {
    // The test that needs it fails and says so as well; the others need not wait for that.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}
