/* Which limits of control groups are found and read: files of /proc and of groups, as kernels write
 * them and as no kernel would, in a folder that stands for the root of the system. */
#include "support/test.h"

#include "base/cgroup.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at) {
  (void)status, (void)type, (void)at;
  return remove(path);
}

static int remove_root(void **state) {
  (void)state;
  return *root ? nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) : 0;
}

/* An empty folder. */
static void begin(void **state) {
  assert_int_equal(remove_root(state), 0);
  strcpy(root, "/tmp/winnow-cgroup-XXXXXX");
  assert_non_null(mkdtemp(root));
}

/* Writes a file below the root, and makes its folders. */
static void write_file(const char *path, const char *text) {
  char whole[2048];
  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
    *slash = 0;
    mkdir(whole, 0700);
    *slash = '/';
  }
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

#define V2_MOUNT "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNTS                                                              \
  "30 23 0:25 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755\n"                 \
  "31 30 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"        \
  "32 30 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n" \
  "33 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static void write_process(const char *groups, const char *mounts) {
  write_file("/proc/self/cgroup", groups);
  write_file("/proc/self/mountinfo", mounts);
}

static void write_v2(const char *folder, const char *high, const char *max, const char *current,
                     const char *inactive) {
  const struct {
    const char *name, *text;
  } files[] = {
      {"memory.high", high}, {"memory.max", max}, {"memory.current", current}, {"memory.stat", inactive}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[1024];
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", folder, files[i].name);
    if (files[i].text) write_file(path, files[i].text);
  }
}

static bool read_room(struct cgroup *cgroup, struct cgroup_room *room) {
  cgroup_find(cgroup, root);
  return cgroup_read(cgroup, room);
}

static void assert_room(uint64_t allowed, int64_t left) {
  struct cgroup cgroup;
  struct cgroup_room room;
  assert_true(read_room(&cgroup, &room));
  assert_int_equal(room.allowed, allowed);
  assert_int_equal(room.left, left);
}

static void assert_no_limit(void) {
  struct cgroup cgroup;
  struct cgroup_room room;
  assert_false(read_room(&cgroup, &room));
}

/* ---- version 2 ---- */

static void a_sixteenth_below_max_is_allowed_and_old_file_pages_do_not_count(void **state) { /* H7e */
  begin(state);
  write_process("0::/a\n", V2_MOUNT);
  write_v2("/a", "max\n", "16000\n", "9000\n", "anon 7000\nfile 2000\ninactive_anon 1\ninactive_file 1500\n");
  assert_room(15000, 15000 - 7500);
}

static void high_counts_where_it_is_less(void **state) { /* H7e */
  begin(state);
  write_process("0::/a\n", V2_MOUNT);
  write_v2("/a", "12000\n", "16000\n", "9000\n", "inactive_file 0\n");
  assert_room(12000, 3000);
  write_v2("/a", "15500\n", NULL, NULL, NULL);
  assert_room(15000, 6000);
  write_v2("/a", NULL, "max\n", NULL, NULL);
  assert_room(15500, 6500);
}

static void the_group_that_leaves_least_counts_up_to_the_mounted_one(void **state) { /* H7e */
  begin(state);
  write_process("0::/a/b/c\n", V2_MOUNT);
  write_v2("/a/b/c", "5000\n", "max\n", "1000\n", "inactive_file 0\n");
  write_v2("/a/b", "max\n", "max\n", "3000\n", "inactive_file 0\n");
  write_v2("/a", "6000\n", "max\n", "5500\n", "inactive_file 0\n");
  write_v2("", "100000\n", "max\n", "7000\n", "inactive_file 0\n");
  assert_room(6000, 500);
  write_v2("", "7100\n", NULL, NULL, NULL);
  assert_room(7100, 100);
  write_v2("/a/b/c", "1050\n", NULL, NULL, NULL);
  assert_room(1050, 50);
}

static void a_group_may_use_more_than_it_is_allowed(void **state) {
  begin(state);
  write_process("0::/a\n", V2_MOUNT);
  write_v2("/a", "1000\n", "max\n", "1600\n", "inactive_file 100\n");
  assert_room(1000, -500);
}

static void what_changes_is_read_again(void **state) {
  begin(state);
  struct cgroup cgroup;
  struct cgroup_room room;
  write_process("0::/a\n", V2_MOUNT);
  write_v2("/a", "1000\n", "max\n", "400\n", "inactive_file 0\n");
  assert_true(read_room(&cgroup, &room));
  write_v2("/a", "2000\n", NULL, "500\n", NULL);
  assert_true(cgroup_read(&cgroup, &room));
  assert_int_equal(room.left, 1500);
  write_v2("/a", "max\n", NULL, NULL, NULL);
  assert_false(cgroup_read(&cgroup, &room));
}

/* A container without a namespace of its own for groups sees only its part of the hierarchy. */
static void a_mount_of_a_part_of_the_hierarchy_is_the_part_of_the_path(void **state) {
  begin(state);
  write_process("0::/docker/4f/web\n", "29 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write_v2("/web", "900\n", "max\n", "400\n", "inactive_file 0\n");
  write_v2("", "800\n", "max\n", "500\n", "inactive_file 0\n");
  assert_room(800, 300);
  write_process("0::/docker/4f\n", "29 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write_v2("", "700\n", NULL, NULL, NULL);
  assert_room(700, 200);
  write_process("0::/docker/4fff\n", "29 23 0:26 /docker/4f /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  assert_no_limit();
}

static void blanks_in_paths_are_read_as_the_kernel_writes_them(void **state) {
  begin(state);
  write_process("0::/my group\n", "29 23 0:26 / /sys/my\\040groups rw - cgroup2 cgroup2 rw\n");
  write_file("/sys/my groups/my group/memory.high", "700\n");
  write_file("/sys/my groups/my group/memory.current", "200\n");
  assert_room(700, 500);
}

/* ---- version 1 ---- */

static void groups_of_version_1_have_their_own_files(void **state) { /* H7e */
  begin(state);
  write_process("12:pids:/x\n4:memory:/a/b\n1:cpu,cpuacct:/\n0::/x\n", V1_MOUNTS);
  write_file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3200\n");
  write_file("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2000\n");
  write_file("/sys/fs/cgroup/memory/a/memory.stat", "inactive_file 5\ntotal_inactive_file 300\n");
  write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write_v2("/unified/x", "100\n", "max\n", "100\n", NULL); /* memory is not of that hierarchy */
  assert_room(3000, 3000 - 1700);
}

/* ---- what a group reports ---- */

static void assert_look(struct cgroup_state expected) {
  struct cgroup cgroup;
  struct cgroup_state found;
  cgroup_find(&cgroup, root);
  assert_true(cgroup_look(&cgroup, &found));
  assert_int_equal(found.limit, expected.limit);
  assert_int_equal(found.high, expected.high);
  assert_int_equal(found.current, expected.current);
  assert_int_equal(found.kills, expected.kills);
  assert_int_equal(found.pressure_us, expected.pressure_us);
}

static void assert_blind(void) {
  struct cgroup cgroup;
  struct cgroup_state found;
  cgroup_find(&cgroup, root);
  assert_false(cgroup_look(&cgroup, &found));
}

#define EVENTS "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n"
#define PRESSURE \
  "some avg10=1.00 avg60=2.00 avg300=3.00 total=7000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=800\n"

static void a_group_reports_its_limit_and_what_it_suffered(void **state) {
  begin(state);
  write_process("0::/a\n", V2_MOUNT);
  write_v2("/a", "12000\n", "16000\n", "9000\n", NULL);
  write_file("/sys/fs/cgroup/a/memory.events", EVENTS);
  write_file("/sys/fs/cgroup/a/memory.pressure", PRESSURE);
  assert_look((struct cgroup_state){16000, 12000, 9000, 5, 7000});
  write_v2("/a", "max\n", "max\n", NULL, NULL);
  assert_look((struct cgroup_state){0, 0, 9000, 5, 7000});
}

/* What counts against the least limit is what its group uses; the kills are those of the own group. */
static void the_least_limit_of_all_groups_above_counts(void **state) {
  begin(state);
  write_process("0::/a/b/c\n", V2_MOUNT);
  write_v2("/a/b/c", "max\n", "5000\n", "1000\n", NULL);
  write_v2("/a/b", "700\n", "4000\n", "3000\n", NULL);
  write_v2("/a", "900\n", "max\n", "3500\n", NULL);
  write_v2("", NULL, NULL, "7000\n", NULL);
  write_file("/sys/fs/cgroup/a/b/c/memory.events", "oom_kill 1\n");
  write_file("/sys/fs/cgroup/a/b/memory.events", "oom_kill 8\n");
  assert_look((struct cgroup_state){4000, 700, 3000, 1, 0});
  write_v2("/a/b/c", NULL, "3999\n", NULL, NULL);
  assert_look((struct cgroup_state){3999, 700, 1000, 1, 0});
  write_v2("", NULL, "100\n", NULL, NULL);
  assert_look((struct cgroup_state){100, 700, 7000, 1, 0});
}

static void a_group_without_files_of_memory_is_that_above(void **state) {
  begin(state);
  write_process("0::/a/b\n", V2_MOUNT);
  write_file("/sys/fs/cgroup/a/b/cgroup.procs", "1\n");
  write_v2("/a", "max\n", "4000\n", "3000\n", NULL);
  write_file("/sys/fs/cgroup/a/memory.events", EVENTS);
  assert_look((struct cgroup_state){4000, 0, 3000, 5, 0});
}

static void a_group_of_version_1_reports_by_its_own_files(void **state) {
  begin(state);
  write_process("4:memory:/a/b\n0::/x\n", V1_MOUNTS);
  write_file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  write_file("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1200\n");
  write_file("/sys/fs/cgroup/memory/a/b/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  assert_look((struct cgroup_state){0, 0, 1200, 3, 0});
  write_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "3200\n");
  write_file("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "2000\n");
  assert_look((struct cgroup_state){3200, 0, 2000, 3, 0});
}

static void a_group_that_cannot_be_read_reports_nothing(void **state) {
  begin(state);
  assert_blind();
  write_process("0::/a\n", V2_MOUNT);
  assert_blind();
  write_v2("/a", "1\n", "2\n", "x\n", NULL);
  assert_blind();
  write_process("0::/a\n", "22 1 8:1 / / rw - ext4 /dev/sda rw\n");
  write_v2("/a", NULL, NULL, "3\n", NULL);
  assert_blind();
}

static void garbage_in_a_group_is_zero(void **state) {
  begin(state);
  static const char *const texts[] = {"",
                                      "\n",
                                      "max\n",
                                      "-1\n",
                                      "99999999999999999999999\n",
                                      "oom_kill\n",
                                      "oom_kill x\n",
                                      "oom_killed 5\n",
                                      "some\n",
                                      "some total\n",
                                      "some total=\n",
                                      "some total=x\n",
                                      "some xtotal=5\n",
                                      "full total=5\n"};
  write_process("0::/a\n", V2_MOUNT);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_v2("/a", texts[i], texts[i], "100\n", NULL);
    write_file("/sys/fs/cgroup/a/memory.events", texts[i]);
    write_file("/sys/fs/cgroup/a/memory.pressure", texts[i]);
    assert_look((struct cgroup_state){0, 0, 100, 0, 0});
  }
}

/* ---- what cannot be read ---- */

static void without_files_there_is_no_limit(void **state) { /* H7e */
  begin(state);
  assert_no_limit();
  write_file("/proc/self/cgroup", "0::/a\n");
  assert_no_limit();
  write_file("/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda rw\n");
  assert_no_limit();
  write_file("/proc/self/mountinfo", V2_MOUNT);
  assert_no_limit();
  write_v2("/a", NULL, "1600\n", NULL, NULL); /* without its usage */
  assert_no_limit();
  write_v2("/a", NULL, NULL, "600\n", NULL);
  assert_room(1500, 900);
}

static void what_is_no_number_is_no_limit(void **state) { /* H7e */
  begin(state);
  static const char *const texts[] = {"",      "\n", "max\n", "-1\n", "x100\n", "99999999999999999999999\n",
                                      " 100\n"};
  write_process("0::/a\n", V2_MOUNT);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_v2("/a", texts[i], texts[i], "100\n", "inactive_file 0\n");
    assert_no_limit();
  }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_v2("/a", "1000\n", "max\n", texts[i], "inactive_file 0\n");
    assert_no_limit();
  }
}

static void a_wrong_stat_takes_nothing_off(void **state) {
  begin(state);
  static const char *const texts[] = {"", "inactive_file", "inactive_file \n", "inactive_file x\n",
                                      "\n\n \n"};
  write_process("0::/a\n", V2_MOUNT);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_v2("/a", "1000\n", "max\n", "300\n", texts[i]);
    assert_room(1000, 700);
  }
  write_v2("/a", NULL, NULL, NULL, "inactive_file 5000\n"); /* more than is used */
  assert_room(1000, 1000);
}

static void lines_of_any_kind_are_passed_over(void **state) {
  begin(state);
  static const char *const groups[] = {
      "\n", ":", "::\n", "0::\n", "0:\n", "4:memory\n", "4:memory:a\n", "0::a\n", "a:b:c:d:e\n", "memory\n"};
  static const char *const mounts[] = {"\n",
                                       "-\n",
                                       " - \n",
                                       "1 2 3 4 5 6 7 8\n",
                                       "29 23 0:26 / - cgroup2\n",
                                       "29 23 0:26 / /sys/fs/cgroup rw -\n"};
  write_v2("/a", "1000\n", "max\n", "300\n", "");
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
    write_process(groups[i], V2_MOUNT V1_MOUNTS);
    assert_no_limit();
  }
  for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
    write_process("0::/a\n", mounts[i]);
    assert_no_limit();
  }
}

/* Any prefix of good files may be read, or no limit; nothing beyond a text is. */
static void cut_texts_are_read_to_their_end(void **state) {
  begin(state);
  static const char groups[] = "4:memory:/a\n0::/a\n", mounts[] = V1_MOUNTS V2_MOUNT;
  struct cgroup cgroup;
  struct cgroup_room room;
  char cut[sizeof mounts];
  write_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1600\n");
  write_file("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "600\n");
  for (size_t i = 0; i < sizeof mounts; i++) {
    memcpy(cut, mounts, i);
    cut[i] = 0;
    write_process(groups, cut);
    if (read_room(&cgroup, &room)) assert_int_equal(room.left, 900);
  }
  for (size_t i = 0; i < sizeof groups; i++) {
    memcpy(cut, groups, i);
    cut[i] = 0;
    write_process(cut, mounts);
    if (read_room(&cgroup, &room)) assert_int_equal(room.left, 900);
  }
}

/* Deeper than any table, and longer than any path. */
static void groups_as_deep_as_can_be_are_read_or_are_no_limit(void **state) {
  begin(state);
  struct cgroup cgroup;
  struct cgroup_room room;
  char path[CGROUP_PATH_MOST + 200] = "", line[CGROUP_PATH_MOST + 220];
  for (int i = 0; i < 100; i++) {
    strcat(path, "/g");
    write_v2(path, "1000\n", "max\n", i == 99 ? "700\n" : "100\n", "");
  }
  snprintf(line, sizeof line, "0::%s\n", path);
  write_process(line, V2_MOUNT);
  assert_true(read_room(&cgroup, &room));
  assert_int_equal(room.left, 300);
  assert_int_equal(cgroup.count, CGROUP_LEVELS_MOST);
  for (size_t i = strlen(path); i < CGROUP_PATH_MOST; i++) path[i] = 'x';
  path[CGROUP_PATH_MOST] = 0;
  snprintf(line, sizeof line, "0::%s\n", path);
  write_process(line, V2_MOUNT);
  assert_no_limit();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sixteenth_below_max_is_allowed_and_old_file_pages_do_not_count),
      cmocka_unit_test(high_counts_where_it_is_less),
      cmocka_unit_test(the_group_that_leaves_least_counts_up_to_the_mounted_one),
      cmocka_unit_test(a_group_may_use_more_than_it_is_allowed),
      cmocka_unit_test(what_changes_is_read_again),
      cmocka_unit_test(a_mount_of_a_part_of_the_hierarchy_is_the_part_of_the_path),
      cmocka_unit_test(blanks_in_paths_are_read_as_the_kernel_writes_them),
      cmocka_unit_test(groups_of_version_1_have_their_own_files),
      cmocka_unit_test(a_group_reports_its_limit_and_what_it_suffered),
      cmocka_unit_test(the_least_limit_of_all_groups_above_counts),
      cmocka_unit_test(a_group_without_files_of_memory_is_that_above),
      cmocka_unit_test(a_group_of_version_1_reports_by_its_own_files),
      cmocka_unit_test(a_group_that_cannot_be_read_reports_nothing),
      cmocka_unit_test(garbage_in_a_group_is_zero),
      cmocka_unit_test(without_files_there_is_no_limit),
      cmocka_unit_test(what_is_no_number_is_no_limit),
      cmocka_unit_test(a_wrong_stat_takes_nothing_off),
      cmocka_unit_test(lines_of_any_kind_are_passed_over),
      cmocka_unit_test(cut_texts_are_read_to_their_end),
      cmocka_unit_test(groups_as_deep_as_can_be_are_read_or_are_no_limit),
  };
  return cmocka_run_group_tests(tests, NULL, remove_root);
}
/* SPDX-License-Identifier: MIT */
