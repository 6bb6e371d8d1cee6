import { describe, expect, it } from 'vitest';
import { checkPromise } from '../dsl/promises.ts';

const CREATE_GROUP = ['POST', '/api/v1/admin/groups'] as const;
const refusal = (status: number, code: string, others: Record<string, string> = {}) => ({
  status,
  headers: new Headers({ 'content-type': 'application/json; charset=utf-8', ...others }),
  body: { error: 'x', code },
});

/** Each response that any test gets goes through this check (OP-431). */
describe('a response that the description of its operation does not have', () => {
  it('fails the test that gets it, by its status, its code or a header', () => {
    const [method, path] = CREATE_GROUP;
    expect(() => checkPromise(method, path, refusal(418, 'teapot'))).toThrow(
      'the description of the API does not say what createGroup: status 418 is not described: teapot',
    );
    expect(() => checkPromise(method, path, refusal(403, 'license_full'))).toThrow(
      'createGroup: 403 is not described for license_full',
    );
    const tagged = refusal(403, 'insufficient_permissions', { etag: '"1"', 'x-unheard-of': '1' });
    expect(() => checkPromise(method, path, tagged)).toThrow(
      'createGroup: 403 is not described with etag, x-unheard-of',
    );
  });

  it('is none that is described, that the listener sends everywhere, or of an address without an operation', () => {
    const [method, path] = CREATE_GROUP;
    for (const [status, code] of [
      [400, 'validation_failed'],
      [400, 'malformed_json'],
      [403, 'insufficient_permissions'],
      [414, 'malformed_request'],
    ] as const)
      expect(() => checkPromise(method, path, refusal(status, code))).not.toThrow();
    const usual = {
      date: 'now',
      'x-request-id': 'id',
      'cache-control': 'no-store',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '60',
      'retry-after': '60',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    };
    expect(() => checkPromise(method, path, refusal(429, 'rate_limit_exceeded', usual))).not.toThrow();
    expect(() => checkPromise('POST', '/nowhere', refusal(418, 'teapot'))).not.toThrow();
  });
});
