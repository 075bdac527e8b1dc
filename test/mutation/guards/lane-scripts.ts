import type { Guard, TestChoice } from "./guard.ts";

/**
 * The scripts of the lane. What the pair of tests in script-guards.test.ts takes out of a script's text is taken out of its
 * file here, and the lane's other tests are asked first.
 *
 * Left out, since taking it out only costs work: the look at `body` before a request is searched for in the line.
 */

const LUA = "packages/handoff-lock/lua";
const LOCK = "test/handoff-lock/lock.test.ts";
const LINE = "test/handoff-lock/line.test.ts";
const WAITING = "test/handoff-lock/waiting.test.ts";
const TWICE = "test/handoff-lock/sent-twice.test.ts";
const REPAIR = "test/handoff-lock/repair.test.ts";
const MEMORY = "test/handoff-lock/memory-limit.test.ts";

/** The test that holds one promise of a script alone against the script as it stands. */
function alone(script: string, says: string): TestChoice {
  return { file: "test/handoff-lock/script-guards.test.ts", title: `'${script}' '${says}` };
}

const HOLDS = "redis.call('GET', lock) ~= ARGV[1]";
const TWICE_STALE = "the second cannot touch whoever holds the lane by then";

export const LANE_SCRIPT_GUARDS: readonly Guard[] = [
  {
    promise: "renewing acts only on one's own token",
    file: `${LUA}/renew.lua`,
    guard: "redis.call('GET', KEYS[1]) ~= ARGV[1]",
    without: "false",
    tests: [{ file: LOCK, title: "a renewal that finds another token stops that turn" }],
  },
  {
    promise: "renewing never puts back a lock that is gone",
    file: `${LUA}/renew.lua`,
    guard: `if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])`,
    without: "redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])",
    tests: [{ file: LOCK, title: "a renewal that finds no lock at all does not create it again" }],
  },
  {
    promise: "handing off acts only on one's own token",
    file: `${LUA}/handoff.lua`,
    guard: HOLDS,
    without: "false",
    tests: [{ file: LOCK, title: "L9: a holder that overran" }],
  },
  {
    promise: "leaving acts only on one's own token",
    file: `${LUA}/leave.lua`,
    guard: HOLDS,
    without: "false",
    tests: [{ file: TWICE, title: TWICE_STALE }],
  },
  {
    promise: "entering takes no lane that another token holds",
    file: `${LUA}/enter.lua`,
    guard: "not holder or holder == token",
    without: "true",
    tests: [{ file: LOCK, title: "of a hundred who enter at once exactly one gets the turn" }],
  },
  {
    promise: "entering twice with one token is one turn",
    file: `${LUA}/enter.lua`,
    guard: "not holder or holder == token",
    without: "not holder",
    tests: [{ file: TWICE, title: "sent twice leaves what sent once leaves" }],
  },
  {
    promise: "a turn is counted once, however often it is asked for",
    file: `${LUA}/enter.lua`,
    guard: "holder and tonumber(redis.call('GET', KEYS[6]) or 0) or redis.call('INCR', KEYS[6])",
    without: "redis.call('INCR', KEYS[6])",
    tests: [{ file: TWICE, title: "sent twice leaves what sent once leaves" }],
  },
  {
    promise: "a lock lapses by itself",
    file: `${LUA}/enter.lua`,
    guard: "redis.call('SET', lock, token, 'PX', ARGV[2])",
    without: "redis.call('SET', lock, token)",
    tests: [{ file: LOCK, title: "lapses by itself" }],
  },
  {
    promise: "queueing takes no line beyond its cap",
    file: `${LUA}/queue.lua`,
    guard: "depth + new > cap",
    without: "false",
    tests: [{ file: LINE, title: "over the cap nothing of the call is taken" }],
  },
  {
    promise: "a repeat is never refused for the cap",
    file: `${LUA}/queue.lua`,
    guard: "redis.call('HEXISTS', body, key) == 0",
    without: "true",
    tests: [{ file: LINE, title: "a full line refuses no repeat" }],
  },
  {
    promise: "queueing lets no request stand twice",
    file: `${LUA}/queue.lua`,
    guard: "redis.call('HSETNX', body, ARGV[index], prefix .. ARGV[index + 1]) == 1",
    without: "redis.call('HSETNX', body, ARGV[index], prefix .. ARGV[index + 1]) >= 0",
    tests: [{ file: LINE, title: "a repeat keeps its place and its body" }],
  },
  {
    promise: "entering lets no request stand twice",
    file: `${LUA}/enter.lua`,
    guard: "redis.call('HEXISTS', body, key) == 0",
    without: "true",
    tests: [{ file: LINE, title: "the line grows by one for each request" }],
  },
  {
    promise: "entering keeps a place for a request that is not standing",
    file: `${LUA}/enter.lua`,
    guard: "redis.call('RPUSH', wait, key)",
    without: "",
    tests: [{ file: LINE, title: "a request nobody queued joins at the end" }],
  },
  {
    promise: "handing off removes requests by their keys, not by their number",
    file: `${LUA}/handoff.lua`,
    guard: `    if values[head] == nil then
      break
    end
`,
    without: "",
    tests: [alone("handoff", "looks at each head")],
  },
  {
    promise: "handing off settles only what stands",
    file: `${LUA}/handoff.lua`,
    guard: "redis.call('HEXISTS', body, key) == 1 and redis.call('LREM', wait, 1, key) == 1",
    without: "redis.call('LREM', wait, 1, key) >= 0",
    tests: [{ file: TWICE, title: "sent twice leaves what sent once leaves" }],
  },
  {
    promise: "the bodies that go are those of the requests that went",
    file: `${LUA}/handoff.lua`,
    guard: "redis.call('HDEL', body, unpack(removed))",
    without: "redis.call('DEL', body)",
    tests: [{ file: LOCK, title: "L4: the finisher hands on under the same lock" }],
  },
  {
    promise: "a handoff forgets the holders that vanished before it",
    file: `${LUA}/handoff.lua`,
    guard: "redis.call('DEL', KEYS[6])\nredis.call('PEXPIRE', wait, ttlMs)",
    without: "redis.call('PEXPIRE', wait, ttlMs)",
    tests: [alone("handoff", "forgets the vanished holders")],
  },
  {
    promise: "a holder yields only to somebody who is there",
    file: `${LUA}/handoff.lua`,
    guard: "ARGV[5] == '1' and wake(lane, wait, seat)",
    without: "ARGV[5] == '1'",
    tests: [{ file: LOCK, title: "goes on when it is asked to yield and nobody waits" }],
  },
  {
    promise: "only a seat whose process listens is woken",
    file: `${LUA}/parts/wake.lua`,
    guard: "redis.call('PUBLISH', channel, cjson.encode({ 'wake', lane, key })) > 0",
    without: "redis.call('PUBLISH', channel, cjson.encode({ 'wake', lane, key })) >= 0",
    tests: [alone("handoff", "yields only to somebody who hears it")],
  },
  {
    promise: "a seat that nobody hears is deleted",
    file: `${LUA}/parts/wake.lua`,
    guard: "    redis.call('HDEL', seat, key)\n",
    without: "",
    tests: [{ file: WAITING, title: "a wake passes over seats that nobody hears" }],
  },
  {
    promise: "leaving wakes a waiter",
    file: `${LUA}/leave.lua`,
    guard: "  wake(string.match(lock, '{(.*)}'), wait, seat)\n",
    without: "",
    tests: [alone("leave", "wakes a waiter")],
  },
  {
    promise: "the outcome of a waiter that nobody hears is kept for its job",
    file: `${LUA}/parts/tell.lua`,
    guard: "redis.call('PUBLISH', channel, cjson.encode(message)) == 0",
    without: "redis.call('PUBLISH', channel, cjson.encode(message)) < 0",
    tests: [alone("handoff", "keeps the outcome of a waiter that n")],
  },
  {
    promise: "the caller's own outcomes leave nothing behind",
    file: `${LUA}/handoff.lua`,
    guard: "values[ARGV[index]] = false",
    without: "values[ARGV[index]] = 'own'",
    tests: [alone("handoff", "leaves nothing behind for the caller")],
  },
  {
    promise: "outcomes that nobody fetches lapse",
    file: `${LUA}/parts/tell.lua`,
    guard: "    redis.call('PEXPIRE', done, ttlMs)\n",
    without: "",
    tests: [{ file: LINE, title: "every key of a lane lapses" }],
  },
  {
    promise: "stepping back leaves a seat alone that another process has taken over",
    file: `${LUA}/step-back.lua`,
    guard: "redis.call('HGET', seat, key) == ARGV[2]",
    without: "true",
    tests: [alone("step-back", "leaves a seat alone")],
  },
  {
    promise: "stepping back passes on a wake that may have been on its way",
    file: `${LUA}/step-back.lua`,
    guard: "redis.call('EXISTS', lock) == 0",
    without: "false",
    tests: [alone("step-back", "passes on a wake")],
  },
  {
    promise: "stepping back takes an outcome that is there already",
    file: `${LUA}/step-back.lua`,
    guard: "redis.call('HGET', done, key)",
    without: "false",
    tests: [{ file: WAITING, title: "an outcome that is there already is taken instead of stepping back" }],
  },
  {
    promise: "clearing an empty seat leaves the outcome to the job that comes for it",
    file: `${LUA}/step-back.lua`,
    guard: "not ARGV[3] and ",
    without: "",
    tests: [{ file: WAITING, title: "a wake for an empty seat leaves the outcome" }],
  },
  {
    promise: "withdrawing drops nothing that is not standing",
    file: `${LUA}/withdraw.lua`,
    guard: "redis.call('LREM', wait, 1, key) == 0",
    without: "false",
    tests: [alone("withdraw", "drops nothing that is not standing")],
  },
  {
    promise: "queueing notices a lane that lost a part of itself",
    file: `${LUA}/queue.lua`,
    guard: "mendIfUneven(wait, body, ttlMs)\n",
    without: "",
    tests: [alone("queue", "mends a lane")],
  },
  {
    promise: "entering notices a lane that lost a part of itself",
    file: `${LUA}/enter.lua`,
    guard: "mendIfUneven(wait, body, ttlMs)\n",
    without: "",
    tests: [alone("enter", "mends a lane")],
  },
  {
    promise: "handing off notices a lane that lost a part of itself",
    file: `${LUA}/handoff.lua`,
    guard: "mendIfUneven(wait, body, ttlMs)\n",
    without: "",
    tests: [alone("handoff", "mends a lane")],
  },
  {
    promise: "leaving notices a lane that lost a part of itself",
    file: `${LUA}/leave.lua`,
    guard: "mendIfUneven(wait, KEYS[3], ARGV[2])\n",
    without: "",
    tests: [alone("leave", "mends a lane")],
  },
  {
    promise: "withdrawing notices a lane that lost a part of itself",
    file: `${LUA}/withdraw.lua`,
    guard: "mendIfUneven(wait, body, ARGV[3])\n",
    without: "",
    tests: [alone("withdraw", "mends a lane")],
  },
  {
    promise: "one lost entry beside one lost body is found out",
    file: `${LUA}/parts/first-requests.lua`,
    guard: "if not bodies[index] then",
    without: "if false then",
    tests: [{ file: REPAIR, title: "that lost its bodies at equal length" }],
  },
  {
    promise: "mending drops bodies without an entry",
    file: `${LUA}/parts/mend.lua`,
    guard: "    redis.call('HDEL', body, key)\n",
    without: "",
    tests: [{ file: REPAIR, title: "drops entries without a body and bodies without an entry" }],
  },
  {
    promise: "a lock that would never lapse gets a lease",
    file: `${LUA}/enter.lua`,
    guard: "redis.call('PTTL', lock) == -1",
    without: "false",
    tests: [
      { file: "test/handoff-lock/strangers.test.ts", title: "as a lock that would never lapse has a lease" },
    ],
  },
  {
    promise: "a request that stands twice is handed out once",
    file: `${LUA}/parts/first-requests.lua`,
    guard: "if stands[keys[index]] then",
    without: "if false then",
    tests: [{ file: REPAIR }],
  },
  {
    promise: "a full Redis refuses a publisher before anything was changed",
    file: `${LUA}/queue.lua`,
    guard: "local prefix, line = stamp(''), {}",
    without: "redis.call('PEXPIRE', body, ttlMs)\nlocal prefix, line = stamp(''), {}",
    tests: [{ file: MEMORY, title: "queue refuses with a type of its own, and nothing was changed" }],
  },
  {
    promise: "a full Redis lets the line be worked off",
    file: `${LUA}/enter.lua`,
    guard: `redis.call('PEXPIRE', wait, ttlMs)
redis.call('PEXPIRE', body, ttlMs)
mendIfUneven`,
    without: "mendIfUneven",
    tests: [{ file: MEMORY, title: "a full Redis is worked empty" }],
  },
  {
    promise: "a look at a lane shows no more outcomes than were asked for",
    file: `${LUA}/inspect.lua`,
    guard: "2 * limit + 1",
    without: "#left + 1",
    tests: [{ file: LINE, title: "a view shows no more outcomes than were asked for" }],
  },
];
