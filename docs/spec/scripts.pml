/*
 * The scripts of packages/handoff-lock/lua, one atomic step each and named as they are, with an underscore for a dash.
 * What is hidden from the state is scratch: each step writes it before reading it.
 */

hidden byte at, found, count, odd;
hidden byte removed, own, keys;
hidden byte first, second, channel;
hidden byte mine, heard, yields, stumbled;
hidden mtype answer;

/* ---- parts ---- */

inline append(request) {
    promise(one_place, !(body & BIT(request)) || orderLost);
    promise(line_fits_model, depth < LINE);
#ifdef JOINS_ONCE
    promise(joins_once, !(decided & BIT(request)));
#endif
    line[depth] = request;
    depth++;
    body = body | BIT(request);
    if
    :: !(placed & BIT(request)) -> before[request] = placed; placed = placed | BIT(request)
    :: else
    fi
}

/* Drops entries without a body, entries that stand twice, and bodies without an entry. */
inline mend() {
    at = 0; count = 0; odd = body;
    do
    :: at < depth ->
        if
        :: odd & BIT(line[at]) -> odd = odd & ~BIT(line[at]); line[count] = line[at]; count++
        :: else
        fi;
        at++
    :: else -> break
    od;
    body = body & ~odd;
    do
    :: depth > count -> depth--; line[depth] = 0
    :: else -> break
    od;
    skip
}

/* Drops what no script put there. */
inline heal() {
    foul = false;
    mend()
}

/* A script that stumbles is sent again once the lane is healed; here the two go together. */
inline heal_if_foul() {
    stumbled = foul;
    if
    :: foul -> heal(); printf("heal\n")
    :: else
    fi
}

inline mend_if_uneven() {
    if
    :: UNEVEN -> mend()
    :: else
    fi
}

inline first_requests() {
    do
    :: HEAD_BODILESS -> mend()
    :: else -> break
    od;
    first = FIRST_OF_LINE;
    second = SECOND_OF_LINE;
    promise(handed_out_whole, !BODILESS(first) && !BODILESS(second))
}

inline remove_at(place) {
    removed = removed | BIT(line[place]);
    at = place;
    do
    :: at + 1 < depth -> line[at] = line[at + 1]; at++
    :: else -> break
    od;
    depth--;
    line[depth] = 0
}

inline remove(request) {
    found = 0;
    do
    :: found < depth && line[found] != request -> found++
    :: else -> break
    od;
    if
    :: found < depth -> remove_at(found)
    :: else
    fi
}

inline forget_removed() {
    promise(leaves_only_settled, (removed & ~decided) == 0);
    body = body & ~removed
}

/* What is handed out stays in line until it is settled. */
inline hand_out() {
    first_requests();
#ifdef WITHOUT_KEEPING_THE_HEAD
    removed = 0;
    if
    :: first -> remove_at(0)
    :: else
    fi;
    if
    :: second -> remove_at(0)
    :: else
    fi;
    forget_removed()
#endif
}

/* An outcome goes to the process that waits for it, or stays for the job that has not been fetched yet. */
inline tell(request) {
    heard = false;
    if
    :: seat[request] && !(own & BIT(request)) ->
        heard = (seat[request] != NOBODY && luck != unheard);
        spoken = true;
        if
        :: heard && luck != word_lost && stands[seat[request]] == request -> told[seat[request]] = true
        :: else
        fi
    :: else
    fi;
    seat[request] = 0;
#ifndef WITHOUT_KEEPING_OUTCOMES
    if
    :: !heard && !(own & BIT(request)) -> done = done | BIT(request)
    :: else
    fi
#endif
}

inline tell_removed() {
    at = 1;
    do
    :: at <= REQUESTS ->
        if
        :: removed & BIT(at) -> tell(at)
        :: else
        fi;
        at++
    :: else -> break
    od;
    skip
}

/* A seat that nobody hears is deleted, and the next one is tried. */
inline wake_seat(request) {
    if
    :: !heard && seat[request] ->
        spoken = true;
#ifdef WITHOUT_PASSING_OVER_THE_DEAD
        heard = true;
#else
        heard = (seat[request] != NOBODY && luck != unheard);
#endif
        if
        :: heard && luck != word_lost && seat[request] != NOBODY -> word[seat[request]] = request
        :: heard && (luck == word_lost || seat[request] == NOBODY)
        :: else -> seat[request] = 0
        fi
    :: else
    fi
}

/* The first live seat in line, else any. */
inline wake() {
    heard = false;
    at = 0;
    do
    :: at < depth -> found = line[at]; wake_seat(found); at++
    :: else -> break
    od;
    at = 1;
    do
    :: at <= REQUESTS -> wake_seat(at); at++
    :: else -> break
    od;
    skip
}

inline clear_seats() {
    at = 1;
    do
    :: at <= REQUESTS -> seat[at] = 0; at++
    :: else -> break
    od;
    skip
}

/* Scripts change the lock nowhere else, so here it is seen whether one touched what was not its own. */
inline change_lock(token, value) {
    promise(own_token, lock == FREE || lock == token);
    lock = value
}

/* ---- the scripts ---- */

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
                :: request -> seat[request] = 0
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
            :: yields -> wake()
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

inline step_back(request, from, takesOutcome) {
    heal_if_foul();
    if
    :: takesOutcome && (done & BIT(request)) -> done = done & ~BIT(request); answer = settled
    :: else ->
        if
        :: seat[request] == from ->
            seat[request] = 0;
            if
            :: lock == FREE -> wake()
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
