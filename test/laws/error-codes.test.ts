import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../../src/app/http/refusal.ts';
import { errorCodes, type ErrorCode } from '../../src/platform/kernel/error-codes.ts';
import { ERRORS_PAGE, errorsPage } from '../../scripts/error-codes.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const codes = Object.keys(errorCodes) as ErrorCode[];
const sources = ['src', 'commands', 'queries']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  )
  .filter((name) => name.endsWith('.ts') && !name.endsWith('error-codes.ts'))
  .map((name) => [name, readFileSync(path.join(ROOT, name), 'utf8')] as const);

describe('the codes of errors', () => {
  it('are listed in docs/reference/errors.md, with their texts', () => {
    expect(readFileSync(ERRORS_PAGE, 'utf8'), 'run: node --import tsx scripts/error-codes.ts').toBe(errorsPage);
  });

  it('are snake_case, of an error status, and used', () => {
    const text = sources.map(([, source]) => source).join('\n');
    for (const code of codes) {
      expect([code, /^[a-z]+(?:_[a-z]+)*$/.test(code)]).toEqual([code, true]);
      expect([code, statusOf(code) >= 400]).toEqual([code, true]);
      expect([code, text.includes(`'${code}'`)]).toEqual([code, true]);
    }
  });

  it('are in every error response: no file builds a body of its own', () => {
    const own = sources.filter(([, source]) => /\.send\(\s*\{\s*error\b/.test(source)).map(([name]) => name);
    expect(own, 'throw a FailureError, or send `errorBody`').toEqual([]);
  });
});
