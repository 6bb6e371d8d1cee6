import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/** A name for a prepared statement, the same for the same text. For statements that are few and constant: each is parsed once a connection. */
export function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) names.set(sql, (name = createHash('sha256').update(sql).digest('base64url').slice(0, 24)));
  return name;
}
