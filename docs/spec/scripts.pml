/* The scripts of packages/handoff-lock/lua, one atomic step each and named as they are, with an underscore for a dash. */

inline queue(request) {
    heal_if_foul();
    mend_if_uneven();
    if
    :: STANDS(request) -> answer = in_line
    :: !STANDS(request) && FULL -> answer = line_full
    :: else ->
        append(request);
        promise(line_within_cap, depth <= CAP);
        answer = in_line
    fi
}

/* `channel` is 0 for a caller that will not listen, `request` is 0 for maintenance. */
inline enter(token, request, withBody) {
    heal_if_foul();
    first = 0; second = 0;
    if
    :: request && (done & BIT(request)) -> done = done & ~BIT(request); answer = settled
    :: else ->
        mend_if_uneven();
        mine = MAY_TAKE(token);
        if
        :: mine -> first_requests()
        :: else
        fi;
        if
        :: request && !STANDS(request) && !withBody -> answer = absent
        :: else ->
            if
#ifndef WITHOUT_JOINING
            :: request && !STANDS(request) -> append(request)
#endif
            :: else
            fi;
            if
            :: mine ->
                hand_out();
                change_lock(token, token);
                if
#ifndef WITHOUT_CLEARING_THE_SEAT
                :: request -> seat[request] = 0
#endif
                :: else
                fi;
                answer = turn
            :: else ->
#ifndef WITHOUT_LEASE_FOR_STRANGERS
                if
                :: lock == ENDLESS -> lock = NOBODY
                :: else
                fi;
#endif
                if
                :: request && channel -> seat[request] = channel
                :: else
                fi;
                answer = waiting
            fi
        fi
    fi
}

/* `own` holds the settled requests whose outcome the caller delivers itself; `yields` asks to make room for another. */
inline handoff(token, settledFirst, settledSecond) {
    heal_if_foul();
    first = 0; second = 0;
    if
    :: !MAY_HAND_OFF(token) -> answer = not_holder
    :: else ->
        mend_if_uneven();
        removed = 0;
        count = 0; keys = (settledSecond -> 2 : 1);
#ifdef WITHOUT_REMOVAL_BY_KEY
        do
        :: depth > 0 && count < keys -> remove_at(0); count++
        :: else -> break
        od;
#else
        do
        :: count < keys && line[0] && (line[0] == settledFirst || line[0] == settledSecond) -> remove_at(0); count++
        :: else -> break
        od;
        if
        :: (body & BIT(settledFirst)) && !(removed & BIT(settledFirst)) -> remove(settledFirst)
        :: else
        fi;
        if
        :: settledSecond && (body & BIT(settledSecond)) && !(removed & BIT(settledSecond)) -> remove(settledSecond)
        :: else
        fi;
#endif
        forget_removed();
        /* It may have stumbled behind the removal, and then nobody is told. */
        if
        :: !stumbled -> tell_removed()
        :: else
        fi;
        hand_out();
        heard = false;
        if
        :: first == 0 -> change_lock(token, FREE); clear_seats(); answer = released
        :: else ->
            if
#ifdef WITHOUT_WAKING_AT_YIELD
            :: yields -> heard = true
#else
            :: yields -> wake(); heard = heard || YIELDS_TO_NOBODY
#endif
            :: else
            fi;
            if
            :: heard -> change_lock(token, FREE); answer = yielded
            :: else -> change_lock(token, token); answer = next
            fi
        fi
    fi
}

/* There is no clock here, so prolonging one's own lease changes nothing; only a lock that is not one's own matters. */
inline renew(token) {
    if
    :: !MAY_RENEW(token) -> answer = not_holder
    :: else ->
        promise(renewal_only_prolongs, lock != FREE);
        change_lock(token, token);
        answer = renewed
    fi
}

inline leave(token) {
    heal_if_foul();
    if
    :: !MAY_LEAVE(token) -> answer = not_holder
    :: else ->
        change_lock(token, FREE);
        mend_if_uneven();
        if
        :: depth == 0 -> clear_seats()
#ifndef WITHOUT_WAKING_AT_LEAVE
        :: else -> wake()
#else
        :: else
#endif
        fi;
        answer = gone
    fi
}

/* A process in which nobody sits for the request any more leaves its outcome alone. */
inline step_back(request, from, takesOutcome) {
    heal_if_foul();
    if
    :: takesOutcome && TAKES_OUTCOMES && (done & BIT(request)) -> done = done & ~BIT(request); answer = settled
    :: else ->
        if
        :: seat[request] == from ->
            seat[request] = 0;
            if
            :: lock == FREE && PASSES_WAKES_ON -> wake()
            :: else
            fi
        :: else
        fi;
        answer = given_up
    fi
}

inline withdraw(request) {
    heal_if_foul();
    mend_if_uneven();
    removed = 0; own = 0;
    remove(request);
    forget_removed();
    tell_removed()
}

/* Drops what no script put there. */
inline heal() {
    foul = false;
    mend()
}

/* Looks and changes nothing. */
inline inspect() {
    heal_if_foul();
    answer = (UNHELD -> unheld : moving)
}

/* There is no clock here: whichever outcomes nobody came for may be old. */
inline sweep_outcomes() {
    heal_if_foul();
    done = 0
}
