import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** The one file that looks at it, and why. */
const MAY_LOOK: Readonly<Record<string, string>> = {
  'src/app/http/plugins/malformed-requests.ts': 'refuses a request without the header',
  'src/app/http/routes/scim/oauth.ts': 'chooses among the base URLs of tenants',
};
const LOOKS =
  /\brequest\.(?:host|hostname|port)\b|\bheaders\.host\b|\bheaders\['(?:host|x-forwarded-host)'\]|\{[^{}]*\bhost\b[^{}]*\}: FastifyRequest/;

/** Whoever sends a request chooses its `Host`: an address made of it leads where an attacker wants. */
describe('an address is never made of the Host header', () => {
  it('in any file but those that are listed', () => {
    const files = readdirSync(path.join(ROOT, 'src/app/http'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
    const looking = files.filter((file) => LOOKS.test(readFileSync(path.join(ROOT, file), 'utf8')));
    expect(looking.sort()).toEqual(Object.keys(MAY_LOOK).sort());
  });
});
