import type { DeadAddress } from "@junban/operations";
import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { formToken } from "./layout.ts";
import type { Column, Reader } from "./layout.ts";

export interface ActFormsOptions {
  readonly address: DeadAddress;
  /** How it stands: what can be done follows from it. A dead job has none. */
  readonly outcome: "failed" | "rejected" | "deferred" | "applied" | "duplicate" | "job";
  /** Whether it is rejected and happened all the same; default false. */
  readonly alert?: boolean;
  readonly reader: Reader;
  /** Where to come back to. */
  readonly back: string;
}

export const LONGEST_REASON = 500;

/** A column of acts, for those who may act. */
export function actsColumn<Row>({ role }: Reader, of: (row: Row) => Html): readonly Column<Row>[] {
  return role === "operator" ? [{ title: "Acts", of }] : [];
}

/** What an operator can do to one dead letter; nothing for a viewer. */
export function actForms({ address, outcome, alert = false, reader, back }: ActFormsOptions): Html {
  if (reader.role !== "operator" || outcome === "applied" || outcome === "duplicate") return html``;
  const fields = html`${formToken(reader)}${addressFields(address)}<input
      type="hidden"
      name="back"
      value="${back}"
    />`;
  const canReplay = outcome !== "deferred";
  const drop = DROP_WORDS[outcome];
  return html`<div class="acts">
    ${
      canReplay &&
      html`<form method="post" action="/acts/replay">
        ${fields}<button>Replay<span class="unseen"> ${address.id}</span></button>
      </form>`
    }
    ${
      (outcome !== "rejected" || alert) &&
      html`<details>
        <summary>${drop}<span class="unseen"> ${address.id}</span></summary>
        <form method="post" action="${outcome === "rejected" ? "/acts/acknowledge" : "/acts/drop"}">
          ${fields}
          <label>
            Reason
            <input
              name="reason"
              required
              pattern=".*\\S.*"
              title="a few words"
              maxlength="${LONGEST_REASON}"
              autocomplete="off"
            />
          </label>
          <button class="danger">${drop}</button>
        </form>
      </details>`
    }
  </div>`;
}

/** An alert is seen to, an event is given up, a job is deleted. */
const DROP_WORDS = { failed: "Drop", deferred: "Drop", rejected: "Acknowledge", job: "Delete" } as const;

function addressFields(address: DeadAddress): Html {
  return address.kind === "event"
    ? html`<input type="hidden" name="source" value="${address.source}" /><input
          type="hidden"
          name="id"
          value="${address.id}"
        />`
    : html`<input type="hidden" name="family" value="${address.family}" /><input
          type="hidden"
          name="id"
          value="${address.id}"
        />`;
}
