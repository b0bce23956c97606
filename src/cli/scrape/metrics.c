/* Writes metrics family by family, as the format demands. */
#include "cli/scrape/metrics.h"

#include <stddef.h>

/* A family of metrics: its type and name, what it is, and where its number is. */
struct family {
  const char *name, *type, *help;
  size_t place;
};

/* Of each function, and with another name of all together; the true value is between lower and
 * upper in 95 of 100 cases. The place is in a meter. */
#define MEMBER(member, end) offsetof(struct meter, member) + offsetof(struct estimate, end)
static const struct family meter_families[] = {
    {"held_bytes", "gauge", "Bytes held now, estimated", MEMBER(held, estimate)},
    {"held_bytes_lower", "gauge", "Lower end of the 95 % interval of bytes held", MEMBER(held, low)},
    {"held_bytes_upper", "gauge", "Upper end of the 95 % interval of bytes held", MEMBER(held, high)},
    {"allocated_bytes_total", "counter", "Bytes allocated, estimated", MEMBER(allocated, estimate)},
    {"allocated_bytes_lower", "gauge", "Lower end of the 95 % interval of bytes allocated",
     MEMBER(allocated, low)},
    {"allocated_bytes_upper", "gauge", "Upper end of the 95 % interval of bytes allocated",
     MEMBER(allocated, high)},
};
#undef MEMBER

/* Of a recording; below 0: the number is not known. */
static const struct family families[] = {
    {"winnow_writing", "gauge", "Whether the process still writes its trace",
     offsetof(struct metrics, writing)},
    {"winnow_rate", "gauge", "Probability of a sample for each word allocated",
     offsetof(struct metrics, rate)},
    {"winnow_cost_ratio", "gauge", "Share of the processor time of the process that recording took",
     offsetof(struct metrics, cost)},
    {"winnow_lost_records_total", "counter", "Records that are missing from the trace",
     offsetof(struct metrics, lost_records)},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static double metrics_number_at(const void *object, size_t place) {
  return *(const double *)(const void *)((const char *)object + place);
}

static void metrics_begin(FILE *out, const char *prefix, const struct family *family, const char *by) {
  fprintf(out, "# HELP %s%s %s%s.\n# TYPE %s%s %s\n", prefix, family->name, family->help, by, prefix,
          family->name, family->type);
}

static void write_label(FILE *out, const char *value) {
  for (; *value; value++) switch (*value) {
    case '\\': fputs("\\\\", out); break;
    case '"': fputs("\\\"", out); break;
    case '\n': fputs("\\n", out); break;
    default: fputc(*value, out);
    }
}

static void metrics_write_value(FILE *out, const char *prefix, const struct family *family,
                                const struct metrics *of, const char *function, double value) {
  fprintf(out, "%s%s{service=\"", prefix, family->name);
  write_label(out, of->service);
  fprintf(out, "\",pid=\"%d\"", (int)of->pid);
  if (function) {
    fputs(",function=\"", out);
    write_label(out, function);
    fputc('"', out);
  }
  fprintf(out, "} %.15g\n", value);
}

static void write_processes(FILE *out, const struct metrics *recordings, size_t count,
                            const struct family *family) {
  static const char prefix[] = "winnow_process_";
  metrics_begin(out, prefix, family, ", by process");
  for (size_t i = 0; i < count; i++)
    metrics_write_value(out, prefix, family, &recordings[i], NULL,
                        metrics_number_at(&recordings[i].meters->all, family->place));
}

static void metrics_write_functions(FILE *out, const struct metrics *recordings, size_t count,
                                    const struct family *family) {
  static const char prefix[] = "winnow_";
  metrics_begin(out, prefix, family, ", by the function that allocated");
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < recordings[i].meters->count; k++) {
      const struct meter *meter = &recordings[i].meters->of[k];
      metrics_write_value(out, prefix, family, &recordings[i], meter->name,
                          metrics_number_at(meter, family->place));
    }
}

/* ---- shared ---- */

void metrics_write(FILE *out, const struct metrics *recordings, size_t count) {
  fprintf(out,
          "# HELP winnow_recordings Recordings that have metrics here.\n"
          "# TYPE winnow_recordings gauge\nwinnow_recordings %zu\n",
          count);
  for (size_t i = 0; i < COUNT(families); i++) {
    metrics_begin(out, "", &families[i], "");
    for (size_t k = 0; k < count; k++) {
      double value = metrics_number_at(&recordings[k], families[i].place);
      if (value >= 0) metrics_write_value(out, "", &families[i], &recordings[k], NULL, value);
    }
  }
  for (size_t i = 0; i < COUNT(meter_families); i++) {
    write_processes(out, recordings, count, &meter_families[i]);
    metrics_write_functions(out, recordings, count, &meter_families[i]);
  }
}
/* SPDX-License-Identifier: MIT */
