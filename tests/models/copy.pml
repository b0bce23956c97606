/* The minor collection with several copiers: src/gc/minor.c.
 *
 * Followed line by line: copy, forwarded, push_grey, push_gift, move, scan_grey, take_gift, follow_leader, lead, minor_help,
 * and of minor_collect what concerns copiers (begin, open, active, which is a word of this language and therefore `members` here, and idle). Roots are two slots, each a piece of work that a copier
 * takes by counting up, as scan_roots and scan_remembered do. The block behind them leads to four others, by more than one way and
 * in circles, so that copiers meet at the same block, and have something to give.
 *
 * Left out: sizes, tags, pools, counts of words; the collection with one copier, which needs no exchange; sched_yield.
 *
 * Memory order. Steps of this model are in one order, and C11 promises less: what a thread stored without order another sees
 * for certain only once it knows of it. So each thread has a set of what it knows: copies that are complete, and links of lists.
 * A store with release, or an exchange, leaves the thread's set with the place; a load with acquire, or an exchange, adds what was left
 * there to the loader's set. Whoever reads what is not in its set has found an error, though the step order showed it the right
 * value. The first load of a header may give an old value, too, and loads that are hints (`idle`, `gift`) may give anything.
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
 * TWIN_PLAIN_CLAIM (assertion violated): a block is claimed by a store, not by an exchange.
 * TWIN_FORWARD_EARLY (assertion violated): the header is forwarded before the fields are copied.
 * TWIN_RELAXED_FORWARD (assertion violated): the header is forwarded without release.
 * TWIN_RELAXED_FIELD (assertion violated): the field is stored without release.
 * TWIN_NO_WAIT (assertion violated): who finds a block claimed takes that for its address.
 * TWIN_EARLY_LINK (assertion violated): a block is put into a list before its fields are copied: the link takes a field's place.
 * TWIN_LEFT_GIFT (assertion violated): the leader, when it is alone, does not look for gifts.
 * TWIN_NO_FAREWELL (assertion violated): the leader does not wait for those that still work when it closes.
 *
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
byte gift, idle, members, next_root;
bool open;

/* What a thread knows, and what was left at a place: a bit for each copy that is complete, and for each link. */
#define COMPLETE(copy) (1 << ((copy) - N - 1))
#define LINK(block)    (1 << (N * COPIERS + (block) - 1))
int known[COPIERS + 1], at_header[N + 1], at_gift, at_root[F], at_open, at_counts;

byte copied[N + 1]; /* how often: a ghost */

inline push_gift(block) {
  next = gift;
  do
  :: atomic { field[block * F] = next; known[me] = known[me] | LINK(block) }
     if
     :: d_step {
          gift == next -> gift = block;
          at_gift = at_gift | known[me];
          known[me] = at_gift
        }
        break
     :: gift != next -> next = gift
     fi
  od;
  next = 0
}

inline push_grey(block) {
  if
  :: grey -> push_gift(block)
  :: atomic { field[block * F] = grey; grey = block; known[me] = known[me] | LINK(block) }
  fi
}

inline load_header(block) {
  d_step { head = header[block]; known[me] = known[me] | at_header[block] }
}

/* Leaves the new address in `head`. */
inline copy(block) {
  if
  :: load_header(block)
  :: head = YOUNG /* was, perhaps */
  fi;
  won = false;
#ifdef TWIN_PLAIN_CLAIM
  if
  :: head == YOUNG -> header[block] = CLAIMED; won = true
  :: else
  fi;
#else
  if
  :: head == YOUNG ->
     d_step {
       head = header[block];
       known[me] = known[me] | at_header[block];
       if
       :: head == YOUNG -> header[block] = CLAIMED; won = true
       :: else
       fi
     }
  :: else
  fi;
#endif
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

inline scan_grey() {
  do
  :: grey ->
     d_step {
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

inline scan_roots() {
  do
  :: atomic { next_root < F -> root = next_root; next_root++ }
     move(root);
     root = 0;
     scan_grey()
  :: next_root >= F -> break
  od
}

/* An exchange, or any other access that is sequentially consistent and adds to a count. */
#define COUNT(change)                                       \
  atomic {                                                  \
    change;                                                 \
    at_counts = at_counts | known[me];                      \
    known[me] = at_counts                                   \
  }

inline take_gift() {
  COUNT(idle--);
  d_step { grey = gift; gift = 0; known[me] = known[me] | at_gift }
  if
  :: grey
  :: else -> COUNT(idle++)
  fi
}

inline follow_leader() {
  COUNT(idle++);
  do
  :: open ->
     if
     :: gift -> take_gift()
     :: !open /* it rests until there is something */
     fi;
     if
     :: grey -> scan_grey(); COUNT(idle++)
     :: else
     fi
  :: else -> break
  od;
  COUNT(idle--)
}

inline lead() {
  COUNT(idle++);
  do
  :: gift ->
     take_gift();
     if
     :: grey -> scan_grey(); COUNT(idle++)
     :: else
     fi
  :: !gift -> /* the condition of the end, load by load */
     count = idle;
     if
     :: count == members ->
        if
        :: !gift -> break
        :: else
        fi
     :: else
     fi
  od;
  count = 0;
  open = false;
#ifndef TWIN_NO_FAREWELL
  members == 1;
#endif
  atomic { known[me] = known[me] | at_counts }
#ifndef TWIN_LEFT_GIFT
  do
  :: atomic { gift -> grey = gift; gift = 0; known[me] = known[me] | at_gift }
     scan_grey()
  :: !gift -> break
  od
#endif
}

#define WORKER byte grey, value, head, next, block, root; bool won

proctype leader() {
  WORKER;
  byte count;
  byte me = 0;
  d_step { members++; open = true; at_open = known[me] }
  scan_roots();
  scan_grey();
  lead();
  atomic {
    members--;
    assert(!gift && !grey);
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
  byte root, seen;
  if
  :: root = 0
  :: root = 1
  fi;
  d_step { seen = field[root]; known[MARKER] = known[MARKER] | at_root[root] }
  assert(seen <= N || (known[MARKER] & COMPLETE(seen)))
}

#define FIELDS(block, first, second) field[(block) * F] = first; field[(block) * F + 1] = second
init {
  atomic {
    FIELDS(0, 1, 1);
    FIELDS(1, 2, 3);
    FIELDS(2, 3, 0);
    FIELDS(3, 4, 5);
    FIELDS(4, 1, 0);
    run leader();
    run helper(1);
    run marker()
  }
}
/* SPDX-License-Identifier: MIT */
