import { hostname, userInfo } from "node:os";
import { ActionRecord, type FailedAct, type WorkOptions } from "@junban/operations";
import type { NewAction } from "@junban/order-store";
import type { Setting } from "./command.ts";
import { FoundWrong } from "./exit.ts";

type Act = Omit<NewAction, "who">;

/**
 * Notes what this command does to the fleet where the console notes it, under the name of whoever runs it. A database that is older than
 * the record (migration 0003) has no place for it: the act is carried out all the same, and that is said.
 */
export class NotedActs {
  readonly #record: ActionRecord;

  constructor({ services, printer }: Pick<Setting, "services" | "printer">) {
    let isTold = false;
    this.#record = new ActionRecord({
      store: services.store(),
      onUnnotedEnd: () => printer.note("what came of it could not be noted; its beginning is on record"),
      onOldSchema: () => {
        if (!isTold) printer.note("this is not on record, since the database is older: run junban migrate");
        isTold = true;
      },
    });
  }

  /** What became of one act, as a value: others may go on. @throws {NotNotedError} */
  async carryOut<Result>(act: Act, work: () => Promise<Result>, options: WorkOptions<Result>) {
    return this.#record.carryOut({ ...act, who: whoActs() }, work, options);
  }

  /** For a command that does one thing. @throws {FoundWrong} with why it was not done. */
  async done<Result>(act: Act, work: () => Promise<Result>, options: WorkOptions<Result>): Promise<Result> {
    const acted = await this.carryOut(act, work, options);
    if (acted.kind === "done") return acted.result;
    // How the command ends follows from which service is away.
    if (acted.act.isForAll) throw acted.error;
    throw new FoundWrong(failureSays(acted.act));
  }
}

export function failureSays({ changed, says }: FailedAct): string {
  if (changed === "part") return says;
  return `${changed === "nothing" ? "nothing was changed" : "it is not certain whether this was done"}: ${says}`;
}

/** `olga@desk-7 (junban)`: not the name of a user of the console, even if it is spelt the same. */
function whoActs(): string {
  return `${userName()}@${hostname()} (junban)`;
}

/** In containers a user may have a number and no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
