import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/**
 * A name for a prepared statement, the same for the same text. For a small, fixed set of statements: each is parsed
 * once per connection.
 */
export function statementName(sql: string): string {
  let name = names.get(sql);
  if (!name) names.set(sql, (name = createHash('sha256').update(sql).digest('base64url').slice(0, 24)));
  return name;
}
