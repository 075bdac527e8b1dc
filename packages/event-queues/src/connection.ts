import type { Redis, RedisOptions } from "ioredis";

/** Where Redis is: a URL, ioredis options, or a client. */
export type RedisAddress = string | RedisOptions | Redis;
