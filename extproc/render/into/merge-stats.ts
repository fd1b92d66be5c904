import { isDeepStrictEqual } from "node:util";
import { statsConfig } from "../parts/stats.js";
import { mapOf } from "../policy-text.js";
import { commented, plain, type YamlMap } from "../yaml/value.js";
import { type Fields, get, listIn, mapIn, put } from "./fields.js";

/** Their stats with the labels and steps of the filter's metrics; a tag of theirs with one of these names stays. */
export function mergeStats(root: Fields): Fields {
  const ours = plain(statsConfig()) as Fields;
  if (get(root, "stats_config") === undefined) {
    const comment = "Prometheus then shows a backend, and a chain, as a label.";
    return put(root, "stats_config", commented(comment, ours as YamlMap));
  }
  const theirs = mapIn(root, "stats_config");
  const tags = listIn(theirs, "stats_tags");
  const names = tags.map((tag) => get(mapOf(tag), "tag_name"));
  const missing = listIn(ours, "stats_tags").filter((tag) => !names.includes(get(mapOf(tag), "tag_name")));
  const steps = listIn(theirs, "histogram_bucket_settings");
  const own = listIn(ours, "histogram_bucket_settings").filter((each) => {
    return !steps.some((step) => isDeepStrictEqual(step, each));
  });
  const tagged = missing.length === 0 ? theirs : put(theirs, "stats_tags", [...tags, ...missing]);
  // The first that fits a metric wins.
  const merged = own.length === 0 ? tagged : put(tagged, "histogram_bucket_settings", [...own, ...steps]);
  return put(root, "stats_config", merged);
}
