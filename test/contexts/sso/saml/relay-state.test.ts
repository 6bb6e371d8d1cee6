import { expect, it } from 'vitest';
import { samlStartedOnPage } from '../../../../src/contexts/sso/saml/pending-requests.ts';

it("a relay state names a page only in our own form: a provider's text, or a state of another protocol, may begin alike", () => {
  const tenant = Buffer.alloc(16, 0xa5).toString('base64url');
  const token = `${tenant}.${Buffer.alloc(32, 1).toString('base64url')}`;
  expect(samlStartedOnPage(`p${token}`)).toBe(true);
  for (const other of [`j${token}`, `p${token.slice(1)}`, 'portal', 'p']) expect(samlStartedOnPage(other)).toBe(false);
});
