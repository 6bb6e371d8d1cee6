import { z } from 'zod';
import { describe, expect, it } from 'vitest';
import { secret } from '../../../src/platform/resources/fields.ts';
import { refuseMovedSecret } from '../../../src/platform/resources/secrets.ts';

describe('a stored secret that goes to an address', () => {
  const fields = {
    host: z.string(),
    url: secret(),
    plain: secret(undefined, { sentTo: ['host'] }),
    hidden: secret(undefined, { sentTo: ['url'] }),
  };
  const before = { host: 'one.example', urlRef: 'ref-1', plainRef: 'ref-2', hiddenRef: 'ref-3' };

  it('is kept while the address stays', () => {
    expect(refuseMovedSecret(fields, before, before)).toBeUndefined();
  });

  it.each([
    ['an address that responses show', { host: 'two.example' }, 'plain'],
    ['an address that is a secret itself', { urlRef: 'ref-4' }, 'hidden'],
  ])('is not kept for another address: %s', (_what, change, name) => {
    expect(JSON.stringify(refuseMovedSecret(fields, before, { ...before, ...change }))).toContain(name);
  });

  it('may be given again with the address', () => {
    expect(refuseMovedSecret(fields, before, { ...before, urlRef: 'ref-4', hiddenRef: 'ref-5' })).toBeUndefined();
  });
});
