import { beforeEach, describe, expect, it, vi } from 'vitest';
import { certificateBundle, providerCertificates, signingKey } from '../../../src/contexts/sso/domain/fields.ts';
import * as material from '../../../src/contexts/sso/domain/saml-material.ts';

vi.mock('../../../src/contexts/sso/domain/saml-material.ts', { spy: true });

describe('keys and certificates that are too long', () => {
  beforeEach(() => void vi.clearAllMocks());

  it.each([
    ['certificates', certificateBundle],
    ["a provider's certificates", providerCertificates],
    ['a signing key', signingKey],
  ])('are rejected without being parsed: %s', (_what, schema) => {
    const { success, error } = schema.safeParse('-----BEGIN CERTIFICATE-----\n'.repeat(30_000));
    expect(success).toBe(false);
    expect(error!.issues.map(({ code }) => code)).toEqual(['too_big']);
    for (const parse of [material.isCertificateBundle, material.verifiesSignatures, material.isSigningKey])
      expect(vi.mocked(parse).mock.calls.length).toBe(0);
  });
});
