/* What the steps of worker.pml are made of. */

/* ---- the transaction: the row lock makes it one step; the inbox is read behind that lock ---- */

inline decide(request) {
    if
    :: request && !ON_RECORD(request) ->
        promise(at_most_once, !(decided & BIT(request)));
        promise(publish_order, orderLost || (before[request] & ~decided) == 0);
        decided = decided | BIT(request)
    :: else
    fi
}

/* The job that carries the turn ends with it, once its own request is committed. */
inline note_own() {
    if
    :: key && (one == key || two == key) -> ownSettled = true
    :: else
    fi
}

/* ---- how a call to Redis fares ---- */

inline choose_luck() {
    if
#ifdef WITHOUT_HEALING
    :: foul -> luck = unsent
    :: !foul -> luck = fine
#else
    :: luck = fine
#endif
    :: may(RESENT) -> faults--; luck = sent_twice
    :: may(UNANSWERED) -> faults--; luck = unanswered
    :: may(UNANSWERED) -> faults--; luck = unsent
    fi
}

inline choose_luck_of_enter() {
    if
    :: choose_luck()
    :: may(LATE) && key && !lateRequest -> faults--; luck = late
    fi
}

inline choose_luck_of_words() {
    if
    :: choose_luck()
    :: may(WORD_LOST) -> faults--; luck = word_lost
    :: may(WORD_LOST) -> faults--; luck = unheard
    fi
}

/* A word that was never said cannot have been lost. */
inline reset_luck() {
    if
    :: (luck == word_lost || luck == unheard) && !spoken -> faults++
    :: else
    fi;
    luck = fine; spoken = false; asksToYield = false
}

/* ---- between steps ---- */

/* Nobody of this process sits at the lane any more. A wake for a seat that is not this process's has nothing left to tell. */
inline stand_up() {
    stands[me] = 0; told[me] = false;
    withBody = false; stood = false; missed = false;
    if
    :: word[me] && seat[word[me]] != me -> word[me] = 0
    :: else
    fi
}

/* Tokens are never used twice: whoever ends a turn or an attempt has forgotten its token, wherever that still stands. */
inline end_turn() {
    if
    :: lock == me -> lock = NOBODY
    :: else
    fi;
    holders = holders & ~BIT(me);
    one = 0; two = 0; partly = false;
    stand_up();
    at = 1;
    do
    :: at <= REQUESTS ->
        if
        :: (here & BIT(at)) && job[at] == me -> job[at] = READY
        :: else
        fi;
        at++
    :: else -> break
    od;
    here = 0
}

inline rest() {
    end_turn();
    key = 0; ownSettled = false;
    doing = resting
}

inline knock() {
    end_turn();
    doing = knocking
}

inline end_job() {
    promise(ends_after_row, decided & BIT(key));
    if
    :: job[key] == me -> job[key] = ENDED
    :: else
    fi;
    printf("worker %d: job %d ends\n", me, key);
    rest()
}

inline put_back_job() {
    if
    :: key && job[key] == me -> job[key] = READY
    :: else
    fi;
    rest()
}

inline after_turn() {
    if
    :: key && ownSettled -> end_job()
    :: key && !ownSettled -> knock()
    :: else -> rest()
    fi
}

inline after_trouble() {
    if
#ifdef WITHOUT_ROW_BEFORE_END
    :: key -> end_job()
#else
    :: key && ownSettled -> end_job()
#endif
    :: else -> put_back_job()
    fi
}

inline fetch(request) {
    key = request; job[request] = me; doing = knocking;
    printf("worker %d: fetches job %d\n", me, request)
}

/* A further job of a lane that is served here waits without a call. */
inline sit_here(request) {
    job[request] = me; here = here | BIT(request);
    printf("worker %d: job %d sits here\n", me, request)
}

/* Jobs that sit here end as the handoff is sent, whatever becomes of it: their rows are committed. */
inline deliver(request) {
    if
    :: here & BIT(request) ->
        promise(ends_after_row, decided & BIT(request));
        here = here & ~BIT(request);
        own = own | BIT(request);
        if
        :: job[request] == me -> job[request] = ENDED
        :: else
        fi
    :: else
    fi
}

inline take_turn() {
    stand_up();
    holders = holders | BIT(me);
    one = first; two = second;
    doing = (one -> committing : leaving)
}

inline hear_entry() {
    if
    :: answer == settled -> end_job()
    :: answer == turn -> take_turn()
    /* A request that stood and is gone was just settled: only when its outcome fails to come does it join again. */
#ifdef WITHOUT_WAITING_FOR_THE_WORD
    :: answer == absent -> withBody = true
#else
    :: answer == absent && (doing == knocking || !stood || missed) -> withBody = true
    :: answer == absent && doing != knocking && stood && !missed -> missed = true; doing = seated
#endif
    :: answer == waiting && doing == sweeping -> rest()
    :: answer == waiting && doing == knocking -> knock(); stands[me] = key; doing = standing
    :: answer == waiting && doing == standing -> stood = true; missed = false; withBody = false; doing = seated
    fi
}

inline die() {
#ifdef WITHOUT_REDELIVERY
    rest();
#else
    put_back_job();
#endif
    at = 1;
    do
    :: at <= REQUESTS ->
        if
        :: seat[at] == me -> seat[at] = NOBODY
        :: else
        fi;
        at++
    :: else -> break
    od;
    word[me] = 0
}
