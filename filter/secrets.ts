// Which headers carry a caller's identity at some provider: never for a backend that has credentials of its own.
import { Text } from "./host/text";
import * as names from "./names";

/** Single headers; `openai-*` and cookies besides. */
export const SECRETS: Text[] = [
  names.AUTHORIZATION,
  names.PROXY_AUTHORIZATION,
  names.X_API_KEY,
  names.API_KEY,
  names.GOOGLE_KEY,
  names.GOOGLE_PROJECT,
  names.AZURE_KEY,
  names.AWS_TOKEN,
  names.AUTH_TOKEN,
];

export function isSecret(name: usize, length: i32): bool {
  if (names.OPENAI_PREFIX.isPrefixOf(name, length) || names.COOKIE.equals(name, length)) return true;
  for (let i = 0; i < SECRETS.length; i++) {
    if (unchecked(SECRETS[i]).equals(name, length)) return true;
  }
  return false;
}
