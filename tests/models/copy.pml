/* The minor collection with several GC workers, called copiers here: src/gc/collect/minor.c.
 *
 * Followed line by line: share, share_all, answer_requests (answer), own, request_share (ask), forwarded, claim, copy, move, make_packet (give),
 * serve_others (look_around), scan_grey, scan_domain, take_packet (take_gift), follow_leader, is_over, lead, join (minor_help), and of minor_collect what concerns copiers (begin, open, active, which
 * is a word of this language and therefore `members` here, and idle). There are two minor heaps; each domain has one handle, the root
 * of what it made; the blocks behind them lead to each other, by more than one way and in circles, so that copiers meet at
 * the same block, ask for each other's minor heaps, and have something to give.
 *
 * Left out: sizes, tags, pools, counts of words; remembered sets, which are more roots; the collection with one copier, which needs
 * no claims; sched_yield; sleeping until the leader asks for help (stop.pml). What a copier gives, and whether it looks around between
 * two blocks, is left to chance.
 *
 * Memory order. Steps of this model are in one order, and C11 promises less: what a thread stored without order another sees
 * for certain only once it knows of it. So each thread has a set of what it knows: copies that are complete, and links of lists.
 * A store with release, or an exchange, leaves the thread's set with the place; a load with acquire, or an exchange, adds what was left
 * there to the loader's set. Whoever reads what is not in its set has found an error, though the step order showed it the right
 * value. The first load of a header may give an old value, too, and loads that are hints (`idle`, `gift`) give anything.
 *
 * A marker, a helper of the major collector, looks at the fields of old blocks all the while.
 *
 * Proved, for all orders of steps of COPIERS copiers, each of which may come late or not at all:
 * - A block is copied at most once, and who needs its new address gets that of the one copy.
 * - Nobody uses a block's address before the copy is complete, for all that he knows; nobody takes a header for what it is not.
 * - When the leader ends the collection, nothing that is reachable leads to a minor heap, nothing waits to be scanned, nobody works,
 *   and the leader knows of all that was copied.
 * - The collection ends. (Copiers that rest wait here until there is a change, so that a state without an end is a deadlock.)
 *
 * TWIN_PLAIN_CLAIM (assertion violated): a block of a shared minor heap is claimed by a store, not by an exchange.
 * TWIN_IMPATIENCE (assertion violated): who asks for a minor heap does not wait until it is shared.
 * TWIN_SELFISH (assertion violated): who shares its minor heap goes on as if it owned it.
 * TWIN_DEAF (invalid end state): who waits for an answer does not answer.
 * TWIN_SILENT_REST (invalid end state): who has no work left does not share what it owns.
 * TWIN_FORWARD_EARLY (assertion violated): the header is forwarded before the fields are copied.
 * TWIN_RELAXED_FORWARD (assertion violated): the header is forwarded without release.
 * TWIN_RELAXED_FIELD (assertion violated): the field is stored without release.
 * TWIN_NO_WAIT (assertion violated): who finds a block claimed takes that for its address.
 * TWIN_EARLY_LINK (assertion violated): a block is put into a list before its fields are copied: the link takes a field's place.
 *
 * Sources: src/gc/collect/minor.c, src/gc/collect/minor.h.
 * Search: safety. */
#define COPIERS 2
#define N       5 /* young blocks: values 1 to N; 0 is an integer */
#define F       2 /* fields of each */
#define MARKER  COPIERS

/* Each copier has a place for a copy of each block. */
#define COPY(block, copier) (N * ((copier) + 1) + (block))
#define VALUES              (N * (COPIERS + 1) + 1)
#define IS_YOUNG(value)     ((value) >= 1 && (value) <= N)

/* Headers: YOUNG, CLAIMED, or the new address. */
#define YOUNG   0
#define CLAIMED 255

byte field[VALUES * F]; /* of all blocks, old and young; those of value 0 are the roots */
byte header[N + 1];
byte gift, idle, members;
bool open;
#define NO_GIFTS 255

/* struct minor_heap_work, and what a copier has of it. Blocks 4 and 5 are the leader's. */
#define FREE         0
#define OWNED        1
#define SHARED       2
#define INDEX(block) ((block) <= 3)
byte claims[2], asked, seen[COPIERS];
bool asked_for[2], roots_taken[2];
bool owns[COPIERS * 2];

/* What a thread knows, and what was left at a place: a bit for each copy that is complete, and for each link. */
#define COMPLETE(copy) (1 << ((copy) - N - 1))
#define LINK(block)    (1 << (N * COPIERS + (block) - 1))
int known[COPIERS + 1], at_header[N + 1], at_gift, at_root[F], at_claims[2], at_counts;

byte copied[N + 1]; /* how often: a ghost */

/* ---- CLAIMS ---- */

inline share(index) {
  if
  :: owns[me * 2 + index] ->
     atomic {
#ifndef TWIN_SELFISH
       owns[me * 2 + index] = false;
#endif
       claims[index] = SHARED;
       at_claims[index] = known[me]
     }
  :: else
  fi
}

inline share_all() { share(0); share(1) }

inline answer() {
  if
  :: seen[me] != asked ->
     seen[me] = asked;
     if
     :: asked_for[0] -> share(0)
     :: else
     fi;
     if
     :: asked_for[1] -> share(1)
     :: else
     fi
  :: else
  fi
}

inline ask(index) {
  if
  :: atomic { claims[index] == FREE -> claims[index] = SHARED }
  :: claims[index] == SHARED
  :: claims[index] == OWNED ->
     asked_for[index] = true;
     asked++;
#ifndef TWIN_IMPATIENCE
     do
     :: claims[index] == SHARED -> break
#ifndef TWIN_DEAF
     :: claims[index] != SHARED && seen[me] != asked -> answer()
#endif
     od
#endif
  fi;
  known[me] = known[me] | at_claims[index]
}

/* ---- copying ---- */

inline push_grey(block) {
  atomic { field[block * F] = grey; grey = block; known[me] = known[me] | LINK(block) }
}

inline load_header(block) {
  d_step { head = header[block]; known[me] = known[me] | at_header[block] }
}

inline claim(block) {
  if
  :: claims[INDEX(block)] != SHARED -> ask(INDEX(block))
  :: atomic { claims[INDEX(block)] == SHARED -> known[me] = known[me] | at_claims[INDEX(block)] }
  fi;
#ifdef TWIN_PLAIN_CLAIM
  load_header(block);
  if
  :: head == YOUNG -> header[block] = CLAIMED; won = true
  :: else
  fi
#else
  atomic { /* the exchange; that there is a load before changes nothing */
    load_header(block);
    if
    :: head == YOUNG -> header[block] = CLAIMED; won = true
    :: else
    fi
  }
#endif
}

/* Leaves the new address in `head`. */
inline copy(block) {
  if
  :: load_header(block)
  :: head = YOUNG /* was, perhaps; what a copier owns only it changes */
  fi;
  if
  :: head == YOUNG && owns[me * 2 + INDEX(block)] ->
     load_header(block);
     won = head == YOUNG
  :: head == YOUNG && !owns[me * 2 + INDEX(block)] -> claim(block)
  :: else
  fi;
  if
  :: won ->
     head = COPY(block, me);
#ifdef TWIN_EARLY_LINK
     push_grey(block);
#endif
#ifdef TWIN_FORWARD_EARLY
     forward(block);
#endif
     d_step { assert(!copied[block]); copied[block]++; field[head * F] = field[block * F] }
     d_step { field[head * F + 1] = field[block * F + 1]; known[me] = known[me] | COMPLETE(head) }
#ifndef TWIN_FORWARD_EARLY
     forward(block);
#endif
#ifndef TWIN_EARLY_LINK
     push_grey(block)
#endif
  :: else ->
#ifndef TWIN_NO_WAIT
     do
     :: head == CLAIMED -> header[block] != CLAIMED; load_header(block)
     :: else -> break
     od
#endif
     assert(head > N && head < VALUES)
  fi
}

inline forward(block) {
#ifdef TWIN_RELAXED_FORWARD
  header[block] = head
#else
  d_step { header[block] = head; at_header[block] = known[me] }
#endif
}

inline move(place) {
  value = field[place];
  if
  :: IS_YOUNG(value) ->
     copy(value);
     d_step {
       assert(head == COPY(value, 0) || head == COPY(value, 1));
       field[place] = head;
#ifndef TWIN_RELAXED_FIELD
       if
       :: place < F -> at_root[place] = known[me]
       :: else
       fi
#endif
     }
  :: else
  fi;
  d_step { value = 0; head = 0; won = false }
}

/* The list from some place on, but never all. */
inline give() {
  share_all();
  atomic {
    rest = grey;
    do
    :: field[rest * F] -> rest = field[rest * F]
    :: field[rest * F] -> break
    :: !field[rest * F] -> rest = 0; break
    od
  }
  if
  :: atomic { rest && gift == 0 -> gift = field[rest * F]; at_gift = at_gift | known[me]; known[me] = at_gift }
     field[rest * F] = 0
  :: else
  fi;
  rest = 0
}

inline scan_grey() {
  do
  :: grey ->
     if /* look_around */
     :: answer()
     :: field[grey * F] && gift == 0 -> answer(); give()
     :: true
     fi;
     atomic {
       assert(known[me] & LINK(grey));
       block = header[grey];
       grey = field[grey * F];
       assert(block > N && block < VALUES && (known[me] & COMPLETE(block)))
     }
     move(block * F);
     move(block * F + 1);
     block = 0
  :: else -> break
  od
}

inline scan_domain(index) {
  if
  :: atomic { !roots_taken[index] -> roots_taken[index] = true }
     if
     :: atomic { claims[index] == FREE -> claims[index] = OWNED }
        owns[me * 2 + index] = true
     :: else
     fi;
     move(index);
     scan_grey()
  :: else
  fi
}

inline scan_roots() { scan_domain(me); scan_domain(1 - me) }

/* An exchange, or any other access that is sequentially consistent and adds to a count. */
#define COUNT(change)                                       \
  atomic {                                                  \
    change;                                                 \
    at_counts = at_counts | known[me];                      \
    known[me] = at_counts                                   \
  }

inline take_gift() {
  COUNT(idle--);
  if
  :: atomic { gift != 0 && gift != NO_GIFTS -> grey = gift; gift = 0; known[me] = known[me] | at_gift }
  :: else -> COUNT(idle++)
  fi
}

inline work_on_gift() {
  take_gift();
  if
  :: grey -> scan_grey(); COUNT(idle++)
  :: else
  fi
}

inline rest_idle() {
#ifndef TWIN_SILENT_REST
  share_all();
#endif
  COUNT(idle++)
}

inline follow_leader() {
  rest_idle();
  do
  :: open ->
     if
     :: gift != 0 && gift != NO_GIFTS -> work_on_gift()
     :: !open /* it rests until there is something */
     fi
  :: else -> break
  od;
  COUNT(idle--)
}

/* Load by load. */
inline is_over() {
  count = idle;
  if
  :: count == members ->
     if
     :: atomic { gift == 0 -> gift = NO_GIFTS }
        count = idle;
        if
        :: count == members -> over = true
        :: else -> gift = 0
        fi
     :: else
     fi
  :: else
  fi;
  count = 0
}

inline lead() {
  rest_idle();
  do
  :: gift -> work_on_gift()
  :: !gift -> is_over();
     if
     :: over -> break
     :: else
     fi
  od;
  open = false;
  members == 1;
  atomic { known[me] = known[me] | at_counts }
}

#define WORKER byte grey, value, head, block, rest; bool won

proctype leader() {
  WORKER;
  byte count;
  bool over;
  byte me = 0;
  d_step { members++; open = true }
  scan_roots();
  scan_grey();
  lead();
  atomic {
    members--;
    assert((gift == 0 || gift == NO_GIFTS) && !grey);
    for (value : 1 .. N) { assert(copied[value] == 1 && (known[me] & COMPLETE(header[value]))) }
    for (value : 0 .. F - 1) { assert(!IS_YOUNG(field[value])) }
    for (value : 1 .. N) {
      for (block : 0 .. F - 1) { assert(!IS_YOUNG(field[header[value] * F + block])) }
    }
  }
}

proctype helper(byte me) {
  WORKER;
  if
  :: open -> COUNT(members++);
     if
     :: open ->
        scan_roots();
        scan_grey();
        follow_leader()
     :: else
     fi;
     COUNT(members--)
  :: skip
  fi
}

/* A root it saw may lead it to a copy. */
proctype marker() {
  byte root, met;
  if
  :: root = 0
  :: root = 1
  fi;
  d_step { met = field[root]; known[MARKER] = known[MARKER] | at_root[root] }
  assert(met <= N || (known[MARKER] & COMPLETE(met)))
}

#define FIELDS(block, first, second) field[(block) * F] = first; field[(block) * F + 1] = second
init {
  atomic {
    FIELDS(0, 4, 1);
    FIELDS(1, 2, 4);
    FIELDS(2, 3, 5);
    FIELDS(3, 1, 0);
    FIELDS(4, 1, 3);
    run leader();
    run helper(1);
    run marker()
  }
}
/* SPDX-License-Identifier: MIT */
