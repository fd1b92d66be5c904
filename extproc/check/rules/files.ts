import { ConfigError, type Position } from "../../config/errors.js";
import { SettingsFile } from "../../config/load.js";
import { CONFIG_VARIABLE, serviceSchema } from "../../service-config.js";
import { Located } from "../tree/located.js";
import { offsetIn } from "../tree/source-text.js";
import type { Rule } from "./rule.js";

/** Found while reading. */
export const UNREADABLE = "unreadable";
const LOOPBACK = /^(127\.|localhost:|\[?::1)/;

export const fileRules: readonly Rule[] = [
  {
    id: UNREADABLE,
    level: "error",
    harm: "neither Envoy nor Kubernetes takes the file",
    fix: "what the message says",
    *find({ problems }) {
      for (const { at, text } of problems) yield { at, what: text };
    },
  },
  {
    id: "merge-key",
    level: "error",
    harm: "Envoy takes <<: for a field that it does not know, and refuses the file",
    fix: "write the fields out; a plain alias (*name) is fine",
    *find({ bootstraps, tables, clusters }) {
      for (const root of new Set([...bootstraps, ...tables, ...clusters.map(({ at }) => at)])) {
        for (const at of root.source.mergeKeys)
          yield { at: new Located(root.source, at, null), what: "a merge key" };
      }
    },
  },
  {
    id: "service-settings",
    level: "error",
    harm: "the service does not start with it; a running one goes on with what it had",
    fix: "envoy/service.yaml has every setting",
    *find({ serviceFiles }) {
      for (const file of serviceFiles) {
        try {
          new SettingsFile(serviceSchema, file.source.name, CONFIG_VARIABLE).parse(file.source.text);
        } catch (cause) {
          if (!(cause instanceof ConfigError)) throw cause;
          for (const { text, position } of cause.problems) yield { at: placed(file, position), what: text };
        }
      }
    },
  },
  {
    id: "sync-open",
    level: "warning",
    harm: "whoever reaches that port can report as a gateway, and pass on an operator's word that nobody gave",
    fix: "sync: { tokenFile: … }, or listen.http on loopback (in Kubernetes a NetworkPolicy)",
    *find(setup) {
      if (setup.objectsOf("NetworkPolicy").length > 0) return;
      for (const file of setup.serviceFiles) {
        const address = file.at("listen", "http");
        if (address?.text && !LOOPBACK.test(address.text) && !file.at("sync", "tokenFile"))
          yield { at: address, what: `listen.http is ${address.text} without sync.tokenFile` };
      }
    },
  },
];

function placed(file: Located, position: Position | undefined): Located {
  return position ? new Located(file.source, offsetIn(file.source.text, position), null) : file;
}
