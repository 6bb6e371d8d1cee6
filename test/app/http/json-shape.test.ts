import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_DEPTH, MAX_PARTS, tooMuchIn } from '../../../src/app/http/json-shape.ts';
import { sharedApp, type TestApp } from '../../dsl/app.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`;

describe('the shape of a JSON text', () => {
  it.each([
    ['the deepest', nested(MAX_DEPTH), undefined],
    ['too deep', nested(MAX_DEPTH + 1), 'must not be nested deeper than 32'],
    [
      'many, but not deep',
      `[${Array(1_000)
        .fill(nested(MAX_DEPTH - 1))
        .join(',')}]`,
      undefined,
    ],
    ['brackets within a text', JSON.stringify([`\\"${nested(400_000)}`, '\\']), undefined],
    ['too many names', names(60_000), 'must not have more than 100000 parts'],
    ['too many elements', `[${'1,'.repeat(MAX_PARTS)}1]`, 'must not have more than 100000 parts'],
    ['too many lists', `[${'[]'.repeat(MAX_PARTS)}`, 'must not have more than 100000 parts'],
    ['a text without end', '"[[[', undefined],
    ['brackets that close nothing', ']]]]', undefined],
    [
      'members, 1 MiB of them',
      JSON.stringify(Array.from({ length: 16_000 }, () => ({ value: randomUUID(), type: 'User' }))),
      undefined,
    ],
  ])('%s', (_, text, wrong) => {
    expect(tooMuchIn(Buffer.from(text))).toBe(wrong);
  });
});

describe('a request body', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await sharedApp();
  });
  afterAll(() => app.close());

  const send = (path: string, body: string) =>
    fetch(app.url + path, { method: 'POST', body, headers: { 'content-type': 'application/json' } });

  it('of another shape gets 400 that names it', async () => {
    const response = await send('/api/v1/auth/login', nested(1_000));
    expect([response.status, await response.json()]).toEqual([
      400,
      expect.objectContaining({ fields: [{ field: 'body', message: 'must not be nested deeper than 32' }] }),
    ]);
  });

  it('to a route that anybody may call is at most 128 KiB', async () => {
    for (const path of ['/api/v1/enroll/certificate', '/api/v1/enroll/auto', '/api/v1/auth/login']) {
      const { status } = await send(path, JSON.stringify({ x: 'a'.repeat(128 * 1024) }));
      expect([path, status]).toEqual([path, 413]);
    }
  });
});
