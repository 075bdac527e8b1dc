/**
 * Loaded into a process before its own program: sends the process a signal at a moment of its own telling. So a fault lands
 * exactly there, and the program itself is the one that runs in production.
 *
 * CHAOS_MOMENT    the diagnostics channel
 * CHAOS_SIGNAL    SIGKILL or SIGSTOP
 * CHAOS_COUNTDOWN how many messages until then, the fatal one included
 * CHAOS_ARMED_BY  a signal before which nothing is counted (default: everything is)
 * CHAOS_ABOUT     count only messages whose JSON holds this text (default: every message)
 */
import { subscribe } from "node:diagnostics_channel";
import { writeSync } from "node:fs";

const STANDARD_ERROR = 2;

function waitForMoment(env: NodeJS.ProcessEnv): void {
  const armedBy = env["CHAOS_ARMED_BY"] ?? "";
  if (armedBy === "") countDown(env);
  else process.once(armedBy, () => countDown(env));
}

function countDown(env: NodeJS.ProcessEnv): void {
  const { CHAOS_MOMENT = "", CHAOS_SIGNAL = "SIGKILL", CHAOS_COUNTDOWN = "1", CHAOS_ABOUT = "" } = env;
  let left = Number(CHAOS_COUNTDOWN);
  subscribe(CHAOS_MOMENT, (message) => {
    const text = JSON.stringify(message);
    if (!text.includes(CHAOS_ABOUT)) return;
    left -= 1;
    if (left !== 0) return;
    // Written at once: a stream would still hold the line when the process is gone.
    writeSync(STANDARD_ERROR, `{"chaos":${JSON.stringify(CHAOS_MOMENT)},"message":${text}}\n`);
    process.kill(process.pid, CHAOS_SIGNAL);
  });
}

waitForMoment(process.env);
