/* Boxes that are too narrow to be seen, and those below the last row, are left out. Names are
 * untrusted: text_plain replaces what is no text, and html_write_escaped what HTML would obey. */
#include "cli/drawing.h"

#include "base/error.h"
#include "base/hash.h"
#include "cli/report_text.h"
#include "cli/text.h"
#include "page/html.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 18, ROWS_MOST = 200, TEXT_INSET = 4 };
static const double NARROW = 0.4, LETTER = 6.7; /* widths of a box, and of a letter of 11 pixels */

struct drawing {
  FILE *out;
  const struct report *report;
  const struct call_tree *tree;
  double whole; /* bytes */
  unsigned rows;
  bool failed; /* for want of memory */
};

/* A node, its place, and its row. */
struct box {
  uint32_t node;
  double left, width;
  unsigned row;
};

/* ---- texts ---- */

/* Puts the first bytes of a name. */
static void put_name(struct drawing *drawing, const char *name, size_t length) {
  char *plain = NULL;
  size_t size;
  FILE *memory = open_memstream(&plain, &size);
  if (memory) text_plain(memory, name, length);
  if (!memory || fclose(memory))
    drawing->failed = true;
  else
    html_write_escaped(drawing->out, plain);
  free(plain);
}

static void put_numbers(struct drawing *drawing, const struct sums *sums) {
  char bytes[32], share[32], blocks[64];
  fprintf(drawing->out, "%s, %s, in %s", text_bytes(bytes, sums->bytes.total),
          text_share(share, sums->bytes.total / drawing->whole),
          text_number_of(blocks, sums->blocks.total, "block"));
}

/* ---- boxes ---- */

static const struct tree_node *node_of(const struct drawing *drawing, uint32_t node) {
  return &drawing->tree->nodes[node];
}

/* One colour for each name, of those of a flame. */
static unsigned hue_of(const char *name) { return (unsigned)(hash_bytes(name, strlen(name)) % 50); }

/* Not inlined, so that its buffer is not on the C stack once for each level of the tree. */
__attribute__((noinline)) static void draw_box(struct drawing *drawing, const struct box *box) {
  char name[REPORT_NAME_MOST];
  const struct tree_node *node = node_of(drawing, box->node);
  if (box->node)
    call_tree_label(drawing->tree, drawing->report->names, node->label, name, sizeof name);
  else
    strcpy(name, "all");
  size_t columns = (size_t)((box->width > 2 * TEXT_INSET ? box->width - 2 * TEXT_INSET : 0) / LETTER);
  size_t fits = text_that_fits(name, strlen(name), columns);
  double top = (double)box->row * ROW;
  fputs("<g><title>", drawing->out);
  put_name(drawing, name, strlen(name));
  fputs(": ", drawing->out);
  put_numbers(drawing, &node->total);
  fprintf(drawing->out,
          "</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"hsl(%u,70%%,72%%)\"/>",
          box->left, top, box->width, ROW - 1, hue_of(name));
  if (columns >= 3) {
    fprintf(drawing->out, "<text x=\"%.1f\" y=\"%.0f\">", box->left + TEXT_INSET, top + ROW - 5);
    put_name(drawing, name, fits);
    fputs("</text>", drawing->out);
  }
  fputs("</g>\n", drawing->out);
}

static int by_total(const void *a, const void *b, void *context) {
  const struct drawing *drawing = context;
  double one = node_of(drawing, *(const uint32_t *)a)->total.bytes.total,
         other = node_of(drawing, *(const uint32_t *)b)->total.bytes.total;
  return (one < other) - (one > other);
}

/* The children of a node, largest first. The caller frees them; NULL without memory. */
static uint32_t *children_of(const struct drawing *drawing, uint32_t node, size_t *count) {
  *count = 0;
  for (uint32_t child = node_of(drawing, node)->first_child; child;
       child = node_of(drawing, child)->next_sibling)
    ++*count;
  uint32_t *children = malloc((*count + 1) * sizeof *children);
  if (!children) return NULL;
  size_t at = 0;
  for (uint32_t child = node_of(drawing, node)->first_child; child;
       child = node_of(drawing, child)->next_sibling)
    children[at++] = child;
  qsort_r(children, *count, sizeof *children, by_total, (void *)drawing);
  return children;
}

/* Visits the boxes that can be seen; `draw` false only finds how many rows there are. */
static void visit(struct drawing *drawing, const struct box *box, bool draw) {
  if (box->width < NARROW || box->row >= ROWS_MOST) return;
  size_t count;
  if (box->row >= drawing->rows) drawing->rows = box->row + 1;
  if (draw) draw_box(drawing, box);
  uint32_t *children = children_of(drawing, box->node, &count);
  if (!children) drawing->failed = true;
  struct box child = {.left = box->left, .row = box->row + 1};
  for (size_t i = 0; children && i < count; i++) {
    child.node = children[i];
    child.width = node_of(drawing, child.node)->total.bytes.total / drawing->whole * WIDTH;
    visit(drawing, &child, draw);
    child.left += child.width;
  }
  free(children);
}

static void draw_tree(struct drawing *drawing, const char *title) {
  const struct box all = {.width = WIDTH};
  char bytes[32], blocks[64];
  const struct sums *sums = &node_of(drawing, 0)->total;
  visit(drawing, &all, false);
  fputs("<h2>", drawing->out);
  html_write_escaped(drawing->out, title);
  fprintf(drawing->out, ": %s in %s</h2>\n<svg viewBox=\"0 0 %d %u\" role=\"img\">\n",
          text_bytes(bytes, sums->bytes.total), text_number_of(blocks, sums->blocks.total, "block"), WIDTH,
          drawing->rows * ROW);
  visit(drawing, &all, true);
  fputs("</svg>\n", drawing->out);
}

/* ---- shared ---- */

wn_status drawing_write(FILE *out, const struct report *report, enum measure measure, const char *title) {
  struct table table;
  wn_status error = report_table(report, measure, BY_FUNCTION, TABLE_SUMS, &table);
  if (error) return error;
  struct drawing drawing = {
      .out = out, .report = report, .tree = &table.tree, .whole = table.tree.nodes[0].total.bytes.total};
  if (drawing.whole > 0) draw_tree(&drawing, title);
  table_destroy(&table);
  return drawing.failed ? error_set(WN_ENOMEM, "not enough memory for the flame graph") : WN_OK;
}
/* SPDX-License-Identifier: MIT */
