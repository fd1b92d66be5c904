/** The attributes of one stream that are texts or numbers, as text, by the expression that `request_attributes` named. */
export type Attributes = ReadonlyMap<string, string>;
