/** What a worker sends back for a job; without `reply` when the job threw. */
export interface JobAnswer<Reply> {
  reply?: Reply;
}
