import { Text } from "../host/text";

/** What this VM has read in a backend's `endpoint-load-metrics` since its last tick. Outlives policies: so do the attempts. */
@final
export class LoadFacts {
  readonly aliasText: Text;
  readonly key: Text;
  /** 1 + thousandths, the worst; 0 = nothing was told. */
  kvCacheUse: u32 = 0;
  kvCacheUseMs: u64 = 0;
  /** 1 + requests, the latest; 0 = nothing was told. */
  waiting: u32 = 0;
  waitingMs: u64 = 0;

  constructor(alias: string) {
    this.aliasText = Text.of(alias);
    this.key = Text.of("llm.breaker/load/" + alias);
  }
}

const known: LoadFacts[] = [];

/** The one of a backend, whichever policy asks. */
export function loadFactsOf(alias: string): LoadFacts {
  const text = Text.of(alias);
  const found = findLoadFacts(text.ptr, text.length);
  if (found) return found;
  known.push(new LoadFacts(alias));
  return known[known.length - 1];
}

export function allLoadFacts(): LoadFacts[] {
  return known;
}

/** That of a name in metadata, if this VM knows it. */
export function findLoadFacts(ptr: usize, length: i32): LoadFacts | null {
  for (let i = 0; i < known.length; i++) {
    if (unchecked(known[i]).aliasText.equals(ptr, length)) return unchecked(known[i]);
  }
  return null;
}
