import { html } from "../html.ts";
import type { Html } from "../html.ts";
import { brand, formToken, frame } from "./layout.ts";

export interface LoginOptions {
  readonly formToken: string;
  /** Where to go afterwards. */
  readonly next: string;
  readonly trouble?: string | null;
  readonly name?: string;
  /** False where only a proxy's users are known. */
  readonly hasUsers: boolean;
}

export function loginPage({
  formToken: token,
  next,
  trouble = null,
  name = "",
  hasUsers,
}: LoginOptions): Html {
  return frame(
    "Log in",
    html`<main class="door">
      <h1 class="brand">${brand()}</h1>
      ${trouble !== null && html`<p class="notice bad" role="alert">${trouble}</p>`}
      ${
        hasUsers
          ? html`<form method="post" action="/login">
              ${formToken({ formToken: token })}
              <input type="hidden" name="next" value="${next}" />
              <label
                >Name
                <input name="name" value="${name}" autocomplete="username" maxlength="64" required autofocus
              /></label>
              <label>
                Password
                <input
                  type="password"
                  name="password"
                  autocomplete="current-password"
                  maxlength="256"
                  required
                />
              </label>
              <button class="main">Log in</button>
            </form>`
          : html`<p>People are known here through a proxy only. This request did not come through it.</p>`
      }
    </main>`,
  );
}
