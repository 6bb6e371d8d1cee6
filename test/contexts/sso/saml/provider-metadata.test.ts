import { describe, expect, it } from 'vitest';
import { certificatesOf } from '../../../../src/contexts/sso/domain/saml-material.ts';
import { MetadataRefused, providerMetadata } from '../../../../src/contexts/sso/saml/provider-metadata.ts';
import { newSigningPair } from '../../../dsl/saml-identity-provider.ts';
import { samlMetadata } from '../../../dsl/saml-metadata.ts';

const pairs = [newSigningPair('this year'), newSigningPair('next year')];
const now = Date.now();
const REDIRECT_SSO = /<md:SingleSignOnService Binding="[^"]*Redirect"[^>]*>/;

describe('the metadata of a provider', () => {
  it('gives entity id, addresses, every signing certificate once, and the best name format', () => {
    const xml = samlMetadata({ pairs: [...pairs, pairs[0]!], sloUrl: 'https://idp.example/slo' });
    const { idpCertificate, ...rest } = providerMetadata(xml, undefined, now);
    expect(rest).toEqual({
      idpEntityId: 'urn:example:described',
      idpSsoUrl: 'https://idp.example/sso',
      idpSloUrl: 'https://idp.example/slo',
      idpSloResponseUrl: null,
      nameIdFormat: 'emailAddress',
    });
    expect(certificatesOf(idpCertificate)).toHaveLength(2);
    const format = (...formats: string[]) =>
      providerMetadata(samlMetadata({ pairs, formats }), undefined, now).nameIdFormat;
    expect(format('urn:oasis:names:tc:SAML:2.0:nameid-format:transient')).toBe('transient');
    expect(format()).toBe('emailAddress');
  });

  it('may name another address for responses to a logout (Metadata §2.2.2)', () => {
    const sloResponseUrl = 'https://idp.example/slo/responses';
    const xml = samlMetadata({ pairs, sloUrl: 'https://idp.example/slo', sloResponseUrl });
    expect(providerMetadata(xml, undefined, now)).toMatchObject({
      idpSloUrl: 'https://idp.example/slo',
      idpSloResponseUrl: sloResponseUrl,
    });
  });

  it('may describe several providers, one of which is named', () => {
    const inside = [samlMetadata({ pairs }), samlMetadata({ pairs, entityId: 'urn:example:second' })]
      .map((xml) => xml.slice(xml.indexOf('<md:EntityDescriptor')))
      .join('');
    const federation = `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${inside}</md:EntitiesDescriptor>`;
    expect(providerMetadata(federation, 'urn:example:second', now).idpEntityId).toBe('urn:example:second');
    expect(() => providerMetadata(federation, undefined, now)).toThrow('describes several identity providers');
    expect(() => providerMetadata(federation, 'urn:example:third', now)).toThrow('does not describe that entityId');
  });

  it.each([
    ['has expired', samlMetadata({ pairs, attributes: 'validUntil="2020-01-01T00:00:00Z"' })],
    ['is not an instant', samlMetadata({ pairs, attributes: 'validUntil="soon"' })],
    ['has no certificate', samlMetadata({ pairs: [] })],
    ['has no SingleSignOnService', samlMetadata({ pairs }).replace(REDIRECT_SSO, '')],
    ['describes no identity provider', samlMetadata({ pairs }).replaceAll('IDPSSODescriptor', 'SPSSODescriptor')],
    ['is a web page', '<!DOCTYPE html>\n<html><body>Sign in</body></html>'],
    ['is a web page', '\uFEFF <html lang="en"/>'],
    ['is not SAML 2.0 metadata', '<htmlx/>'],
    ['is not well-formed', 'not XML'],
    ['declarations', `<!DOCTYPE r SYSTEM "file:///etc/passwd">${samlMetadata({ pairs }).replace(/^[^]*-->\n/, '')}`],
    ['declarations', '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>'],
    ['too many elements', `<r>${'<a/>'.repeat(20_000)}</r>`],
    ['is larger than', `<r>${' '.repeat(300_000)}</r>`],
  ])('is refused if it %s', (reason, xml) => {
    expect(() => providerMetadata(xml, undefined, now)).toThrow(MetadataRefused);
    expect(() => providerMetadata(xml, undefined, now)).toThrow(reason);
  });
});
