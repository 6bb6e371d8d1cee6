import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { publicHint, publicHints } from '../../../src/contexts/sso/refusal-hints.ts';

const page = new URL('../../../src/app/http/login-page/words.js', import.meta.url);
const { ssoError } = (await import(`data:text/javascript;base64,${readFileSync(page).toString('base64')}`)) as {
  ssoError(reason: string, hint?: string): string;
};

describe('the sign-in page', () => {
  it.each(publicHints)('has words of its own for the hint %s', (hint) => {
    expect(ssoError('idp_error', hint)).not.toBe(ssoError('idp_error'));
    expect(ssoError('invalid_assertion', hint)).not.toBe(ssoError('invalid_assertion'));
  });

  it('tells somebody who is not assigned, and whom a clock keeps out, what to do', () => {
    expect(ssoError('idp_error', publicHint('access_denied'))).toContain('assigned to you');
    for (const detail of ['exp', 'nbf', 'expired', 'not_yet_valid'])
      expect(ssoError('invalid_assertion', publicHint(detail))).toContain('compare the clocks');
  });

  it('tells somebody whose provider limits requests to wait', () => {
    expect(ssoError('token_exchange_failed', publicHint('too many requests'))).toContain('Wait a minute');
  });

  it('tells strangers nothing about signatures, issuers and audiences', () => {
    for (const detail of ['signature', 'iss', 'aud', 'issuer', 'audience', 'foreign domain', null])
      expect(publicHint(detail)).toBeUndefined();
  });
});
