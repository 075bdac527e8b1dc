/*
 * The guards of the protocol. -DWITHOUT_<GUARD> takes one out, and then a promise has to break: README.md tells which.
 * Guards that are more than a condition stand where they act.
 */

/* enter takes no lane that another token holds, and takes up one that holds the caller's own. */
#if defined(WITHOUT_ENTER_REFUSES)
#define MAY_TAKE(token) true
#elif defined(WITHOUT_ENTER_AGAIN)
#define MAY_TAKE(token) (lock == FREE)
#else
#define MAY_TAKE(token) (lock == FREE || (lock == token && token != NOBODY))
#endif

/* handoff, leave and renew act on their own token or not at all. */
#ifdef WITHOUT_HANDOFF_TOKEN
#define MAY_HAND_OFF(token) true
#else
#define MAY_HAND_OFF(token) (lock == token)
#endif
#ifdef WITHOUT_LEAVE_TOKEN
#define MAY_LEAVE(token) true
#else
#define MAY_LEAVE(token) (lock == token)
#endif
#if defined(WITHOUT_RENEW_TOKEN)
#define MAY_RENEW(token) (lock != FREE)
#elif defined(WITHOUT_RENEW_OF_A_LOCK)
#define MAY_RENEW(token) (lock == token || lock == FREE)
#else
#define MAY_RENEW(token) (lock == token)
#endif

/* A request that stands already keeps its place. */
#ifdef WITHOUT_ONE_PLACE
#define STANDS(request) false
#else
#define STANDS(request) (body & BIT(request))
#endif

/* queue refuses what would exceed the cap. */
#ifdef WITHOUT_CAP
#define FULL false
#else
#define FULL (depth + 1 > CAP)
#endif

/* Two lengths that differ, a head without a body, or one that stands twice have the lane mended. */
#ifdef WITHOUT_MEND
#define UNEVEN false
#else
#define UNEVEN (depth != COUNT(body))
#endif
#define BODILESS(request) (request && !(body & BIT(request)))
#define DOUBLE_HEAD (BATCH > 1 && line[0] && line[0] == line[1])
#ifdef WITHOUT_LOOK_AT_BODIES
#define HEAD_BODILESS false
#else
#define HEAD_BODILESS (BODILESS(line[0]) || (BATCH > 1 && BODILESS(line[1])))
#endif
#ifdef WITHOUT_LOOK_FOR_DOUBLES
#define HEAD_DOUBLED false
#else
#define HEAD_DOUBLED DOUBLE_HEAD
#endif

/* The inbox recognises an event that has its row. */
#ifdef WITHOUT_INBOX
#define ON_RECORD(request) false
#else
#define ON_RECORD(request) (decided & BIT(request))
#endif

/* A turn serves the head of the line. */
#ifdef WITHOUT_HEAD_FIRST
#define FIRST_OF_LINE (depth > 0 -> line[depth - 1] : 0)
#define SECOND_OF_LINE 0
#else
#define FIRST_OF_LINE line[0]
#define SECOND_OF_LINE (BATCH > 1 -> line[1] : 0)
#endif

/* Behind every word stands a poll, and whoever hears nothing steps back and comes again. */
#ifdef WITHOUT_POLL
#define POLLS false
#else
#define POLLS true
#endif

/* Something is left in the lane, and no lease protects it. */
#define UNHELD ((lock == FREE || lock == ENDLESS) && (depth > 0 || body))

/* Requests for which nobody comes are served by the sweeper. */
#ifdef WITHOUT_SWEEPER
#define SWEEPS false
#else
#define SWEEPS true
#endif

/* An outcome that crossed with a step back counts as well. */
#ifdef WITHOUT_CROSSING_WORD
#define OUTCOME_CAME (answer == settled)
#else
#define OUTCOME_CAME (answer == settled || told[me])
#endif

/* The lock of a holder that vanished lapses. */
#ifdef WITHOUT_LAPSE
#define LAPSES false
#else
#define LAPSES true
#endif

/* ---- guards that save time or work, and nothing else ---- */

#ifdef WITHOUT_YIELDING_TO_THE_LIVING
#define YIELDS_TO_NOBODY true
#else
#define YIELDS_TO_NOBODY false
#endif
#ifdef WITHOUT_TAKING_OUTCOMES
#define TAKES_OUTCOMES false
#else
#define TAKES_OUTCOMES true
#endif
#ifdef WITHOUT_PASSING_WAKES_ON
#define PASSES_WAKES_ON false
#else
#define PASSES_WAKES_ON true
#endif
