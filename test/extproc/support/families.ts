import { after } from "node:test";
import { parseConfig } from "../../../extproc/service-config.js";
import { Families } from "../../../extproc/tokens/families.js";
import { VocabularyStore } from "../../../extproc/tokens/store.js";

/** A store for one test file, without log lines, closed behind its tests. */
export function storeForTest(): VocabularyStore {
  const store = new VocabularyStore({ info() {}, warn() {} });
  after(() => store.close());
  return store;
}

/** The shipped families; those of `preload` are loaded. */
export async function shippedFamilies(store: VocabularyStore, preload: string[]): Promise<Families> {
  return Families.load(parseConfig({ tokens: { preload, maxVocabularies: preload.length + 1 } }), store);
}
