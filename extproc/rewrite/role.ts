import type { Logger } from "pino";
import type { Exchange, Job, Role } from "../role.js";
import { RewriteJob } from "./job.js";
import { RuleBook } from "./rule-book.js";

/**
 * The body of one attempt as its backend wants it, and its answer as the caller expects it. Path, host and credentials
 * are the meter's, since they must hold when this service is away.
 */
export class RewriteRole implements Role {
  private readonly book: RuleBook;

  constructor(
    private readonly maxBodyBytes: number,
    log: Logger,
  ) {
    this.book = new RuleBook((problem) => log.warn(problem));
  }

  begin({ headers, attributes, trace }: Exchange): Job {
    const rules = this.book.rulesFor(attributes);
    trace?.note({ "llm_breaker.backend": rules.backend, "gen_ai.request.model": rules.model });
    return new RewriteJob(headers, rules, this.maxBodyBytes, trace);
  }
}
