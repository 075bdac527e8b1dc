/*
 * What several scripts have in common, as packages/handoff-lock/lua/parts has it. What is hidden from the state is scratch:
 * each step writes it before reading it.
 */

hidden byte at, found, count, odd;
hidden byte removed, own, keys;
hidden byte first, second, channel;
hidden byte mine, heard, yields, stumbled;
hidden mtype answer;

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
    :: HEAD_BODILESS || HEAD_DOUBLED -> mend()
    :: else -> break
    od;
    first = FIRST_OF_LINE;
    second = SECOND_OF_LINE;
    promise(handed_out_whole, !BODILESS(first) && !BODILESS(second));
    promise(handed_out_once, first == 0 || first != second)
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
