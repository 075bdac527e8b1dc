/* The publisher, an operator, what Redis and BullMQ do by themselves, and everything that goes wrong from outside. */

/* ---- the publisher: a place in line, then the job; acknowledged once both are there ---- */

inline place(request) {
    queue(request);
    if
    :: answer == in_line -> pending = pending | BIT(request); abandoned = abandoned & ~BIT(request)
    :: else
    fi;
    printf("publisher: queue of %d, %e\n", request, answer)
}

inline add_job(request) {
    pending = pending & ~BIT(request);
    job[request] = READY;
    printf("publisher: adds job %d\n", request)
}

inline vanish(request) {
    pending = pending & ~BIT(request);
    abandoned = abandoned | BIT(request);
    printf("publisher: dies before it adds job %d\n", request)
}

#define PENDING(request) (pending & BIT(request))
#define PUBLISHED(request) (request < upcoming && request != PLAIN && !PENDING(request))

proctype publisher() {
    do
    /* Refused by a full line, it first finishes what it has begun, and then asks again. */
    :: atomic { upcoming <= REQUESTS && upcoming != PLAIN && !(FULL && pending) ->
        d_step {
            place(upcoming);
            if
            :: answer == in_line -> upcoming++
            :: else
            fi
        } }
    :: atomic { upcoming <= REQUESTS && upcoming == PLAIN -> pending = pending | BIT(upcoming); upcoming++ }
    :: atomic { PENDING(1) -> d_step { add_job(1) } }
    :: atomic { PENDING(2) -> d_step { add_job(2) } }
    :: atomic { PENDING(3) -> d_step { add_job(3) } }
    :: atomic { PENDING(4) -> d_step { add_job(4) } }
    :: atomic { PENDING(1) && may(PUBLISHER_DIES) -> faults--; d_step { vanish(1) } }
    :: atomic { PENDING(2) && may(PUBLISHER_DIES) -> faults--; d_step { vanish(2) } }
    :: atomic { PENDING(3) && may(PUBLISHER_DIES) -> faults--; d_step { vanish(3) } }
    :: atomic { PUBLISHED(1) && may(REPEAT) -> faults--; d_step { place(1) } }
    :: atomic { PUBLISHED(2) && may(REPEAT) -> faults--; d_step { place(2) } }
    :: atomic { PUBLISHED(3) && may(REPEAT) -> faults--; d_step { place(3) } }
    od
}

/* ---- accidents ---- */

#define HELD (lock != FREE && lock < NOBODY && (holders & BIT(lock)))

inline drop_line() {
    do
    :: depth > 0 -> depth--; line[depth] = 0
    :: else -> break
    od;
    orderLost = true
}

/* A job whose runner is taken for dead is given to another one, whether it is dead or not. */
inline give_away_job_of(runner) {
    at = 1;
    do
    :: at <= REQUESTS ->
        if
        :: job[at] == runner -> job[at] = READY
        :: else
        fi;
        at++
    :: else -> break
    od;
    skip
}

inline lapse() {
    if
    :: HELD -> printf("world: the lock of worker %d is gone\n", lock)
    :: else -> printf("world: a lock that nobody renews lapses\n")
    fi;
    lock = FREE
}

inline drop_lane() {
    printf("world: the lane vanishes\n");
    drop_line();
    lock = FREE; body = 0; done = 0;
    clear_seats()
}

inline drop_body(request) {
    printf("world: the body of %d vanishes\n", request);
    body = body & ~BIT(request);
    orderLost = true
}

inline drop_entry(position) {
    printf("world: entry %d of the line vanishes\n", position);
    remove_at(position);
    orderLost = true
}

hidden byte swallowed;

/* A wake for a seat in which nobody sits: the process gives that seat up, so that another one is woken. */
inline give_up_empty_seat(process) {
    swallowed = word[process];
    word[process] = 0;
#ifndef WITHOUT_CLEARING_EMPTY_SEATS
    step_back(swallowed, process, false);
#endif
    printf("worker %d: a wake for %d that nobody waits for, step_back, %e\n", process, swallowed, answer)
}

inline lose_key(what) {
    foul = true;
    if
    :: what == 1 -> drop_line()
    :: what == 2 -> body = 0; orderLost = true
    :: what == 3 -> clear_seats()
    :: else -> done = 0
    fi;
    printf("world: a stranger writes over key %d of the lane\n", what)
}

#define RUNS(request) (job[request] != NONE && job[request] < READY)
#define UNHEARD_WAKE(process) (word[process] && !stands[process])

proctype world() {
    do
    /* Where nothing can happen any more, the run goes on without end all the same: weak fairness would not see it otherwise. */
    :: timeout -> skip

    /* Nobody renews for a holder that does not know that it is one. */
#ifndef NOTHING_LAPSES
    :: atomic { lock != FREE && lock != ENDLESS && !HELD && LAPSES -> d_step { lapse() } }
#endif
    :: atomic { UNHEARD_WAKE(1) -> d_step { give_up_empty_seat(1) } }
    :: atomic { UNHEARD_WAKE(2) -> d_step { give_up_empty_seat(2) } }
    :: atomic { UNHEARD_WAKE(3) -> d_step { give_up_empty_seat(3) } }
    :: atomic { lateRequest ->
        d_step {
            channel = lateChannel;
            enter(NOBODY, lateRequest, lateBody);
            printf("world: a late enter for %d, %e\n", lateRequest, answer);
            lateRequest = 0; lateChannel = 0; lateBody = false
        } }

    :: atomic { HELD && may(FREEZE) -> faults--; d_step { lapse() } }
    :: atomic { HELD && may(FREEZE) -> faults--; d_step { found = lock; lapse(); give_away_job_of(found) } }
    :: atomic { RUNS(1) && may(STALL) -> faults--; d_step { job[1] = READY } }
    :: atomic { RUNS(2) && may(STALL) -> faults--; d_step { job[2] = READY } }
    :: atomic { RUNS(3) && may(STALL) -> faults--; d_step { job[3] = READY } }
    :: atomic { lock != FREE && may(LOCK_LOST) -> faults--; d_step { lapse() } }
    :: atomic { may(LANE_LOST) -> faults--; d_step { drop_lane() } }
    :: atomic { depth > 0 && may(PART_LOST) -> faults--; d_step { printf("world: the line vanishes\n"); drop_line() } }
    :: atomic { body && may(PART_LOST) -> faults--; d_step { printf("world: all bodies vanish\n"); body = 0; orderLost = true } }
    :: atomic { depth > 0 && may(PART_LOST) -> faults--; d_step { drop_entry(0) } }
    :: atomic { depth > 1 && may(PART_LOST) -> faults--; d_step { drop_entry(1) } }
    :: atomic { depth > 0 && may(PART_LOST) -> faults--; d_step { drop_body(line[0]) } }
    :: atomic { depth > 1 && may(PART_LOST) -> faults--; d_step { drop_body(line[1]) } }
    :: atomic { may(PART_LOST) -> faults--; d_step { printf("world: all seats vanish\n"); clear_seats() } }
    :: atomic { done && may(DONE_LOST) -> faults--; d_step { printf("world: sweep_outcomes\n"); sweep_outcomes() } }
    :: atomic { may(STRANGER) -> faults--; d_step { lose_key(1) } }
    :: atomic { may(STRANGER) -> faults--; d_step { lose_key(2) } }
    :: atomic { may(STRANGER) -> faults--; d_step { lose_key(3) } }
    :: atomic { may(STRANGER) -> faults--; d_step { lose_key(4) } }
    :: atomic { lock == FREE && may(STRANGER) -> faults--; lock = ENDLESS; printf("world: a stranger sets a lock without a lease\n") }

    /* ---- the operator: a row first, then the request may go; he may die in between ---- */

#ifdef WITHOUT_ROW_BEFORE_WITHDRAWAL
    :: atomic { depth > 0 && !withdrawing && may(WITHDRAWAL) -> faults--; withdrawing = line[depth - 1] }
#else
    :: atomic { depth > 0 && !withdrawing && may(WITHDRAWAL) ->
        faults--;
        d_step {
            withdrawing = line[depth - 1];
            decided = decided | BIT(withdrawing);
            printf("world: the operator writes a row for %d\n", withdrawing)
        } }
#endif
    :: atomic { withdrawing -> d_step { printf("world: withdraw of %d\n", withdrawing); withdraw(withdrawing); withdrawing = 0 } }
    :: atomic { withdrawing -> withdrawing = 0 }
    od
}
