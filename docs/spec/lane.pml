/*
 * The lane protocol, small enough to look at every state of it: one lane, its publisher, a few workers, and a bounded
 * number of misfortunes. README.md in this folder tells what is modelled, what is left out, and how to run it.
 *
 * lane.pml          what there is, what is promised, who takes part
 * guards.pml        each guard of the protocol, and how to take it out
 * parts.pml         what several scripts have in common
 * scripts.pml       the scripts of packages/handoff-lock/lua, one atomic step each
 * worker-parts.pml  what a worker's steps are made of
 * worker.pml        a job's way through its lane, and a turn from its first batch to its end
 * world.pml         the publisher, an operator, and everything that goes wrong by itself
 */

/* ---- size: each of these can be set from the command line ---- */

#ifndef WORKERS
#define WORKERS 2 /* 1 to 3, each with one job at a time */
#endif
#ifndef REQUESTS
#define REQUESTS 3 /* 1 to 4, published in the order of their numbers */
#endif
#ifndef BATCH
#define BATCH 2 /* 1 or 2 requests handed out at once */
#endif
#ifndef CAP
#define CAP REQUESTS
#endif
#ifndef PLAIN
#define PLAIN 0 /* the request that comes as a bare job, without a place in line; 0: none */
#endif
#ifndef FAULTS
#define FAULTS 0 /* misfortunes in one run, of the kinds in KINDS */
#endif
#ifndef KINDS
#define KINDS EVERY_KIND
#endif

#define CRASH 1        /* a worker dies, and may or may not come back */
#define FREEZE 2       /* a holder stands still for longer than its lease, then goes on; its job may be given to another */
#define STALL 4        /* a running job is given to another worker as well */
#define LOCK_LOST 8    /* the lock vanishes */
#define LANE_LOST 16   /* every key of the lane vanishes */
#define PART_LOST 32   /* line, bodies, seats, or one entry of them vanish */
#define DONE_LOST 64   /* outcomes are swept before their jobs came */
#define WORD_LOST 128  /* a word is heard and does not arrive, or nobody hears it although the process lives */
#define WORD_SLOW 256  /* a word crosses with what its process does meanwhile */
#define RESENT 512     /* a script is sent twice */
#define UNANSWERED 1024 /* the caller of a script never learns whether it ran */
#define LATE 2048      /* enter runs after its caller has given it up */
#define TROUBLE 4096   /* Postgres fails before COMMIT, behind it, or behind a part of the batch */
#define PUBLISHER_DIES 8192 /* between a place and its job */
#define REPEAT 16384   /* an event is published again */
#define EARLY_SWEEP 32768 /* the sweeper comes although somebody else would have */
#define WITHDRAWAL 65536 /* an operator withdraws a request */
#define STRANGER 131072 /* somebody else writes into the lane: a key of another type, or a lock without a lease */
#define EVERY_KIND 262143

#define may(kind) (faults > 0 && (KINDS & (kind)))
#define BIT(request) (1 << (request))
#define COUNT(set) (((set >> 1) & 1) + ((set >> 2) & 1) + ((set >> 3) & 1) + ((set >> 4) & 1))

/* Workers and their tokens are 1 to WORKERS. NOBODY is a token or a channel whose owner has forgotten it or is gone. */
#define FREE 0
#define NOBODY 4
#define ENDLESS 5 /* a lock that was not taken by any script, and has no lease */

/* Of a job, beside the worker that runs it. */
#define NONE 0
#define READY 4
#define ENDED 5

mtype = {
    own_token, renewal_only_prolongs, leaves_only_settled, one_place, line_within_cap, handed_out_whole, handed_out_once,
    publish_order, at_most_once, decided_on_the_latest, ends_after_row, joins_once, line_fits_model
};
mtype = {
    line_full, in_line, settled, turn, waiting, absent, not_holder, released, yielded, next, renewed, gone, given_up,
    unheld, moving
};
mtype = { fine, sent_twice, unanswered, unsent, late, word_lost, unheard };
mtype = {
    resting, sweeping, knocking, standing, seated, stepping_back, committing, writing, handing_off, leaving, losing, dead
};

hidden mtype broken;

/* Holds at every step; a trail that ends here tells which promise was broken. */
inline promise(name, condition) {
    if
    :: (condition)
    :: else -> broken = name; printf("broken: %e\n", broken); assert(false)
    fi
}

/* ---- Redis: the keys of the lane. Sets of requests are bits; an outcome is no more than that it exists. ---- */

#define MOST 5
#define LINE (REQUESTS + 2)

byte lock;
byte line[LINE];
byte depth;
byte body;
byte seat[MOST];
byte done;
bool foul; /* a key is of another type */

/* ---- BullMQ: who has the job of a request ---- */

byte job[MOST];

/* ---- Postgres: requests that have a row ---- */

byte decided;

/* ---- processes ---- */

byte stands[MOST]; /* the request a worker waits for at the lane; 0: none */
bool told[MOST];   /* the outcome it waits for has reached it */
byte word[MOST];   /* the request under which a wake reached it */
byte holders;      /* workers that take themselves for the holder */
byte alive = WORKERS;

byte upcoming = 1; /* the next request to be published */
byte pending;      /* requests in line whose job is still to be added */
byte lateRequest;
byte lateChannel;
bool lateBody;
byte withdrawing;

byte faults = FAULTS;

/* ---- what was, kept for the promises only ---- */

byte placed;       /* requests that stood in the line at some time */
byte before[MOST]; /* those that had come earlier */
byte abandoned;    /* requests whose publisher died, so that nothing was acknowledged */
bool orderLost;    /* line or bodies were lost, and with them the order */

/* ---- choices within one step; nothing of them is left between two steps ---- */

mtype luck = fine;
bool asksToYield;
bool spoken;

#include "guards.pml"
#include "parts.pml"
#include "scripts.pml"
#include "worker-parts.pml"
#include "worker.pml"
#include "world.pml"

init {
    atomic {
        run worker(1);
#if WORKERS > 1
        run worker(2);
#endif
#if WORKERS > 2
        run worker(3);
#endif
        run publisher();
        run world()
    }
}

/*
 * Progress: from some moment on every request that was promised to a publisher has its row and its job has ended, nobody
 * stands in line and nobody holds the lane. Weakly fair: no process is passed over for ever. At least one worker lives.
 */
#define FULFILLED(request) \
    (request > REQUESTS || (abandoned & BIT(request)) || ((decided & BIT(request)) && job[request] == ENDED))
#define AT_REST \
    (upcoming > REQUESTS && pending == 0 && (lock == FREE || lock == ENDLESS) && depth == 0 && \
     FULFILLED(1) && FULFILLED(2) && FULFILLED(3) && FULFILLED(4))

#ifdef PROGRESS
ltl every_request_is_settled { <>[] (AT_REST) }
#endif
