const STAR: u8 = 0x2a;

/**
 * Whether the whole text fits the whole pattern, in which `*` stands for any bytes, none included. Without recursion: only the
 * last `*` is ever tried again, since what stood before it has matched as early as it could. O(pattern × text).
 */
export function fitsGlob(pattern: usize, patternLength: i32, text: usize, length: i32): bool {
  const patternEnd = pattern + <usize>patternLength;
  const end = text + <usize>length;
  let want = pattern;
  let at = text;
  let afterStar: usize = 0;
  let retry: usize = 0;
  while (at < end) {
    if (want < patternEnd && load<u8>(want) === STAR) {
      afterStar = ++want;
      retry = at;
    } else if (want < patternEnd && load<u8>(want) === load<u8>(at)) {
      want++;
      at++;
    } else if (afterStar !== 0) {
      want = afterStar;
      at = ++retry;
    } else {
      return false;
    }
  }
  while (want < patternEnd && load<u8>(want) === STAR) want++;
  return want === patternEnd;
}
