/**
 * What tests on real services need: databases and key prefixes of their own on the run's shared servers, and waiting for a
 * condition. A test that changes a whole server (CONFIG SET, SCRIPT FLUSH, restart, kill) starts its own from
 * `@junban/sandbox` instead. Not for production code and not a place for fixtures of one area.
 */
export { freshDatabase } from "./databases.ts";
export { blocksIn, scriptFolder } from "./documents.ts";
export { eventually } from "./eventually.ts";
export { PROGRAMS } from "./programs.ts";
export { freshRedis } from "./redis.ts";
