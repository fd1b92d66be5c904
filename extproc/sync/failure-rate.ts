/** Percent with one decimal, from hundredths of a failure; 0 without calls. */
export function failureRate(weightedFailures: number, calls: number): number {
  return calls === 0 ? 0 : Math.round((weightedFailures / calls) * 10) / 10;
}
