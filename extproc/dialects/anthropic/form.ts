/** How the caller wants the answer. */
export interface AnswerForm {
  /** Undefined: the backend's own name. */
  readonly model: string | undefined;
  /** Unix seconds. */
  readonly createdAt: number;
  /** The stream ends with an event about the usage. */
  readonly includesUsage: boolean;
}
