import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { statusOf } from '../../src/app/http/refusal.ts';
import { refusalCodesOf } from '../../src/app/http/openapi/refusals.ts';
import { errorCodes, type ErrorCode } from '../../src/platform/kernel/error-codes.ts';
import { ERRORS_PAGE, errorsPage } from '../../scripts/error-codes.ts';
import { everyRoute } from './every-route.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const codes = Object.keys(errorCodes) as ErrorCode[];
const sources = ['src', 'commands', 'queries']
  .flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name)),
  )
  .filter((name) => name.endsWith('.ts') && !name.endsWith('error-codes.ts'))
  .map((name) => [name, readFileSync(path.join(ROOT, name), 'utf8')] as const);

/** Codes that no operation has, because another part sends them. */
const OF_NO_OPERATION: Readonly<Record<string, string>> = {
  address_too_long: 'the listener',
  audit_head_moved: 'a job that seals again',
  command_refused: 'the command line',
  account_taken: 'the command line',
  tenant_taken: 'the command line',
  tenant_not_attached: 'the command line',
  directory_awaits_confirmation: 'the schedule, not a caller',
  erasure_not_requested: 'the job of an erasure',
  expectation_failed: 'the listener',
  headers_too_large: 'the listener',
  internal_error: 'any operation: the `default` response',
  method_not_allowed: 'the listener',
  request_timeout: 'the listener',
  route_not_found: 'an address without an operation',
  scim_not_supported: 'an address without an operation',
};

describe('the codes of errors', () => {
  it('are described in the operations that return them: declare them in `refuses` of the route', () => {
    const described = new Set<string>(everyRoute.flatMap(refusalCodesOf));
    expect(codes.filter((code) => !described.has(code)).sort()).toEqual(Object.keys(OF_NO_OPERATION).sort());
  });

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
