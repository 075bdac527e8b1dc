/*
 * A worker: one job's way to its lane (apps/worker/src/job.ts, and `stand` of packages/handoff-lock), a turn from its first
 * batch to its end (lane-server.ts), and the sweeper, which enters without a job. Between any two steps everybody else may
 * act; within one nobody can.
 */

#define UNFETCHED(request) (job[request] == READY)
#define ASKS (doing == seated && !told[me] && (POLLS || word[me]))
#define GIVES_UP (doing == seated && !told[me] && POLLS)
#define SERVES (doing == committing || doing == handing_off)
/* The sweeper waits until a head has stood still for two leases: by then everybody else who would come has come. */
#define OVER(request) (job[request] == NONE || job[request] == ENDED)
#define NOBODY_COMES (pending == 0 && OVER(1) && OVER(2) && OVER(3) && OVER(4))

proctype worker(byte me) {
    byte key;        /* the request of the job that is carried; 0: none */
    byte here;       /* requests whose jobs sit in this process */
    byte one, two;   /* the batch in hand */
    bool partly;     /* trouble stopped the batch behind its first request */
    bool ownSettled; /* the carried request is committed */
    bool withBody, stood, missed;
    mtype doing = resting;
#ifdef WITHOUT_ROW_LOCK
    byte seen;       /* what had a row when this transaction read */
#endif

    do
    :: atomic { doing == resting && UNFETCHED(1) -> d_step { fetch(1) } }
    :: atomic { doing == resting && UNFETCHED(2) -> d_step { fetch(2) } }
    :: atomic { doing == resting && UNFETCHED(3) -> d_step { fetch(3) } }
    :: atomic { doing == resting && UNFETCHED(4) -> d_step { fetch(4) } }
    :: atomic { doing == resting && (UNHELD || foul) && SWEEPS && NOBODY_COMES ->
        d_step { inspect(); doing = sweeping; printf("worker %d: inspect, %e\n", me, answer) } }
    :: atomic { doing == resting && (UNHELD || foul) && SWEEPS && !NOBODY_COMES && may(EARLY_SWEEP) ->
        faults--;
        d_step { inspect(); doing = sweeping; printf("worker %d: inspect, %e\n", me, answer) } }

    /* ---- on the way to a turn ---- */

    :: atomic { doing == knocking || doing == standing || doing == sweeping || ASKS ->
        choose_luck_of_enter();
        d_step {
            if
            :: doing == seated -> word[me] = 0; doing = standing
            :: else
            fi;
            channel = (doing == standing -> me : 0);
            if
            :: luck == late -> lateRequest = key; lateBody = withBody; lateChannel = channel
            :: luck == unsent
            :: else -> enter(me, key, withBody)
            fi;
            printf("worker %d: enter for %d, %e, %e with %d %d\n", me, key, luck, answer, first, second);
            if
            :: luck == fine -> hear_entry()
            :: luck == sent_twice
            :: else -> put_back_job()
            fi;
            reset_luck()
        } }
    :: atomic { doing == seated && told[me] ->
        d_step { printf("worker %d: told about %d\n", me, key); end_job() } }
    :: atomic { doing == seated && told[me] && !missed && POLLS && may(WORD_SLOW) -> faults--; doing = standing }
    :: atomic { GIVES_UP && (may(WORD_SLOW) || may(WORD_LOST)) -> faults--; doing = stepping_back }
    :: atomic { doing == stepping_back || GIVES_UP ->
        choose_luck_of_words();
        d_step {
            doing = stepping_back;
            if
            :: luck == unsent
            :: else -> step_back(key, me, true)
            fi;
            printf("worker %d: step_back for %d, %e, %e\n", me, key, luck, answer);
            if
            :: luck == sent_twice
            :: luck == unanswered || luck == unsent -> put_back_job()
            :: else ->
                if
                :: OUTCOME_CAME -> end_job()
                :: else -> put_back_job()
                fi
            fi;
            reset_luck()
        } }

    /* ---- a turn ---- */

#ifndef WITHOUT_ROW_LOCK
    :: atomic { doing == committing ->
        d_step {
            decide(one); decide(two); note_own();
            doing = handing_off;
            printf("worker %d: commits %d %d\n", me, one, two)
        } }
#else
    :: atomic { doing == committing -> seen = decided; doing = writing }
    :: atomic { doing == writing ->
        d_step {
            printf("worker %d: commits %d %d\n", me, one, two);
            if
            /* The inbox key is unique: a row that came in between fails the transaction. */
            :: (BIT(one) | (two -> BIT(two) : 0)) & decided & ~seen -> doing = leaving
            :: else ->
                promise(decided_on_the_latest, seen == decided);
                decide(one); decide(two); note_own();
                doing = handing_off
            fi;
            seen = 0
        } }
#endif
    :: atomic { doing == committing && may(TROUBLE) -> faults--; doing = leaving }
    :: atomic { doing == committing && may(TROUBLE) ->
        faults--;
        d_step { decide(one); decide(two); doing = leaving; printf("worker %d: commits %d %d unknowingly\n", me, one, two) } }
    :: atomic { doing == committing && two && may(TROUBLE) ->
        faults--;
        d_step {
            decide(one); two = 0; partly = true; note_own();
            doing = handing_off;
            printf("worker %d: commits only %d\n", me, one)
        } }
#ifdef LOCAL_SEATS
    :: atomic { SERVES && UNFETCHED(1) -> d_step { sit_here(1) } }
    :: atomic { SERVES && UNFETCHED(2) -> d_step { sit_here(2) } }
    :: atomic { SERVES && UNFETCHED(3) -> d_step { sit_here(3) } }
    :: atomic { SERVES && UNFETCHED(4) -> d_step { sit_here(4) } }
#endif
    :: atomic { doing == handing_off ->
        choose_luck_of_words();
        if
        :: asksToYield = false
        :: !partly && luck != unsent -> asksToYield = true
        fi;
        d_step {
            own = (ownSettled -> BIT(key) : 0);
            deliver(one); deliver(two);
            yields = asksToYield;
            if
            :: luck == unsent
            :: else -> handoff(me, one, two)
            fi;
            printf("worker %d: handoff of %d %d, %e, %e with %d %d\n", me, one, two, luck, answer, first, second);
            if
            :: luck == sent_twice
            :: luck == unanswered || luck == unsent -> doing = leaving
            :: else ->
                if
                :: answer == not_holder -> doing = losing
                :: answer == next && !partly -> one = first; two = second; doing = committing
                :: answer == next && partly -> doing = leaving
                :: else -> after_turn()
                fi
            fi;
            reset_luck()
        } }
    :: atomic { doing == leaving ->
        choose_luck_of_words();
        d_step {
            if
            :: luck == unsent
            :: else -> leave(me)
            fi;
            printf("worker %d: leave, %e, %e\n", me, luck, answer);
            if
            :: luck == sent_twice
            :: else ->
                if
                :: one -> after_trouble()
                :: else -> after_turn()
                fi
            fi;
            reset_luck()
        } }
    :: atomic { SERVES && lock != me ->
        d_step { renew(me); doing = losing; printf("worker %d: renew, %e\n", me, answer) } }
    :: atomic { doing == losing -> d_step { after_turn() } }
    :: atomic { doing == losing -> d_step { after_trouble() } }

    /* ---- the end of a process ---- */

    :: atomic { doing != dead && may(CRASH) && alive > 1 ->
        faults--;
        d_step { printf("worker %d: dies for good\n", me); die(); alive--; doing = dead } }
    :: atomic { doing != dead && may(CRASH) -> faults--; d_step { printf("worker %d: dies and comes back\n", me); die() } }
    od
}
