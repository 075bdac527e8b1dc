import { expect, test } from "vitest";
import { unavailable } from "../../packages/event-queues/src/connection.ts";

test.each([
  ["OOM command not allowed when used memory > 'maxmemory'.", "REDIS_OUT_OF_MEMORY"],
  [
    "ERR Error running script (call to f_0): @user_script:12: @user_script: 12: -OOM command not allowed when used memory > 'maxmemory'.",
    "REDIS_OUT_OF_MEMORY",
  ],
  ["READONLY You can't write against a read only replica.", "REDIS_AWAY"],
  [
    "ERR Error running script (call to f_0): @user_script:12: @user_script: 12: -READONLY You can't write against a read only replica.",
    "REDIS_AWAY",
  ],
  ["LOADING Redis is loading the dataset in memory", "REDIS_AWAY"],
  ["WRONGTYPE Operation against a key holding the wrong kind of value", "REDIS_REFUSED"],
])("what Redis answered (%s) is %s, in the words of every version", (message, code) => {
  expect(unavailable(new Error(message)).code).toBe(code);
});
