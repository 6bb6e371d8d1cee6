import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SchemaValidation } from '../../../../src/contexts/sso/saml/schema-validation.ts';
import { acceptResponse } from '../../../../src/contexts/sso/saml/accept-response.ts';
import { readResponse } from '../../../../src/contexts/sso/saml/read-response.ts';
import { claimsOf } from '../../../../src/contexts/sso/saml/unverified-claims.ts';
import { INSTALLATION } from '../../../../src/platform/kernel/ids.ts';
import { providerShapes } from '../../../dsl/saml-documents.ts';
import { startSamlIdentityProvider, type SamlIdentityProvider } from '../../../dsl/saml-identity-provider.ts';

/** The part of samlify that verifies a signature: an implementation that is not ours. */
interface SamlLib {
  verifySignature(xml: string, trusted: { metadata: { getX509Certificate(): string[] } }): [boolean, string | null];
}
const require = createRequire(import.meta.url);
const { SamlLib: samlify } = require('samlify') as { SamlLib: SamlLib };

const acsUrl = 'https://castellan.example/api/v1/auth/saml/callback';
const audience = 'https://castellan.example/api/v1/auth/saml/metadata';
const requestId = '_request-1';
const schema = new SchemaValidation();
const reader = {
  read: async (_tenantId: unknown, ...response: Parameters<typeof readResponse>) => readResponse(...response),
  claims: async (base64: string) => claimsOf(base64),
};

describe('samlify and the service', () => {
  let provider: SamlIdentityProvider;
  beforeAll(async () => {
    provider = await startSamlIdentityProvider();
  });
  afterAll(() => provider.close());

  const shapesOfAssertions = Object.entries(providerShapes);
  it('read the same assertion from the providers whose messages both accept', async () => {
    const { pair, entityId } = provider;
    const certificate = pair.certificatePem.replaceAll(/-----[^-]+-----|\s/g, '');
    const agreed: string[] = [];
    for (const [name, shape] of shapesOfAssertions) {
      const xml = shape({ pair, entityId, acsUrl, audience, requestId, email: 'ann@t1.example' });
      const { assertionId } = await acceptResponse(
        { reader, schema },
        INSTALLATION,
        Buffer.from(xml).toString('base64'),
        {
          idpEntityId: entityId,
          spEntityId: audience,
          acsUrl,
          requestId,
          now: Date.now(),
          authenticatedSince: undefined,
        },
        [pair.certificatePem],
      );
      const signed = verdictOf(xml, certificate);
      if (signed === undefined) continue;
      expect([name, signed.includes(`ID="${assertionId}"`)]).toEqual([name, true]);
      agreed.push(name);
    }
    expect(agreed.length).toBeGreaterThan(2);
  });
});

/** What samlify says is signed; undefined if it does not accept the message. */
function verdictOf(xml: string, certificate: string): string | undefined {
  try {
    const [isRight, signed] = samlify.verifySignature(xml, { metadata: { getX509Certificate: () => [certificate] } });
    return isRight && signed !== null ? signed : undefined;
  } catch {
    return undefined;
  }
}
