import type { Logger } from "pino";
import { decodeBody, listCodings } from "../body/coding.js";
import { applyEdits } from "../body/splice.js";
import type { Answer, HeaderMutation } from "../messages.js";
import type { RequestHeaders } from "../request-headers.js";
import type { Exchange, Job, Role } from "../role.js";
import { planEdits } from "./edits.js";
import { readRules } from "./rules.js";

const PASS: Answer = {};

/**
 * The body of one attempt as its backend wants it. Path, host and credentials are the meter's, since they must hold
 * when this service is away.
 */
export class RewriteRole implements Role {
  private hasWarned = false;

  constructor(
    private readonly maxBodyBytes: number,
    private readonly log: Logger,
  ) {}

  begin(exchange: Exchange): Job {
    return {
      onRequestHeaders: () => PASS,
      onRequestBody: (body) => this.rewrite(exchange, body),
    };
  }

  private async rewrite({ headers, attributes }: Exchange, body: Buffer): Promise<Answer> {
    const { rules, hasBadCap } = readRules(attributes);
    if (hasBadCap) this.warnOnce("cluster metadata maxOutputTokens must be a positive whole number, ignored");
    if (attributes.size === 0)
      this.warnOnce("rewrite got no cluster metadata: name it in request_attributes");
    const plain = await decodeBody(body, headers.get("content-encoding"), this.maxBodyBytes);
    if (plain === undefined) return PASS;
    const edits = planEdits(plain, rules);
    if (edits.length === 0) return PASS;
    const rewritten = applyEdits(plain, edits);
    return {
      response: {
        status: "CONTINUE",
        header_mutation: fitHeaders(headers, rewritten.length),
        body_mutation: { body: rewritten },
      },
    };
  }

  /** A wrong set-up is wrong for every request; one line is enough. */
  private warnOnce(message: string): void {
    if (!this.hasWarned) this.log.warn(message);
    this.hasWarned = true;
  }
}

/** Envoy refuses a mutated body whose content-length does not fit it; a chunked request stays chunked. */
function fitHeaders(headers: RequestHeaders, byteLength: number): HeaderMutation {
  const mutation: HeaderMutation = {};
  if (headers.has("content-length")) {
    const header = { key: "content-length", raw_value: Buffer.from(String(byteLength)) };
    mutation.set_headers = [{ header, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" }];
  }
  if (listCodings(headers.get("content-encoding")).length > 0) mutation.remove_headers = ["content-encoding"];
  return mutation;
}
