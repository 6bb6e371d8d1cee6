import { beforeAll, describe, expect, it } from 'vitest';
import { createSsoConfig } from '../../../commands/sso/create-sso-config.ts';
import { deleteSsoConfig } from '../../../commands/sso/delete-sso-config.ts';
import { updateSsoConfig } from '../../../commands/sso/update-sso-config.ts';
import type { OidcConfig, SamlConfig, SsoEvent } from '../../../src/contexts/sso/domain/events.ts';
import { DEFAULT_ISSUER_TRUST, MAX_CONFIGS, coversEmail } from '../../../src/contexts/sso/domain/fields.ts';
import { certificatesOf, isCertificateBundle, isSigningKey } from '../../../src/contexts/sso/domain/saml-material.ts';
import { isFailure } from '../../../src/platform/kernel/failure.ts';
import { context, given } from '../../dsl/given.ts';
import { newSigningPair, type SigningPair } from '../../dsl/saml-identity-provider.ts';

const id = (n: number) => `77777777-7777-4777-8777-7777777777${String(n).padStart(2, '0')}`;
const SECRET = '88888888-8888-4888-8888-888888888888';
const NEW_SECRET = '99999999-9999-4999-8999-999999999999';

const oidcSettings = {
  protocol: 'oidc',
  name: 'Okta',
  emailDomains: ['acme.example'],
  issuerUrl: 'https://idp.example',
  clientId: 'castellan',
  scopes: 'openid email',
  ...DEFAULT_ISSUER_TRUST,
} as const;
const samlSettings = {
  protocol: 'saml',
  name: 'ADFS',
  emailDomains: [],
  idpEntityId: 'https://adfs.example',
  idpSsoUrl: 'https://adfs.example/sso',
  idpSloUrl: null,
  idpSloResponseUrl: null,
  idpCertificate: 'a certificate',
  spCertificate: null,
  signRequests: false,
  nameIdFormat: 'emailAddress',
  emailAttribute: null,
} as const;
const oidc = (n: number, over: Partial<OidcConfig> = {}): SsoEvent => ({
  type: 'SsoConfigCreated',
  data: {
    ...oidcSettings,
    emailDomains: ['acme.example'],
    configId: id(n),
    isEnabled: true,
    secretRef: SECRET,
    ...over,
  },
});
const saml = (n: number, over: Partial<SamlConfig> = {}): SsoEvent => ({
  type: 'SsoConfigCreated',
  data: { ...samlSettings, emailDomains: [], configId: id(n), isEnabled: true, secretRef: SECRET, ...over },
});

const reachable = { unreachable: async () => undefined };

describe('adding an SSO configuration', () => {
  const draft = (n: number, isEnabled?: boolean) => ({
    config: { ...oidcSettings, emailDomains: ['acme.example'], configId: id(n), isEnabled },
    secret: 'hush',
  });
  const facts = { secretRef: SECRET };

  it('stores the secret by reference, and enables the first of its protocol unless told otherwise', () => {
    given().when(createSsoConfig, draft(1), facts).then(oidc(1));
    given()
      .when(createSsoConfig, draft(1, false), facts)
      .then(oidc(1, { isEnabled: false }));
    given(saml(1)).when(createSsoConfig, draft(2), facts).then(oidc(2));
    given(oidc(1))
      .when(createSsoConfig, draft(2), facts)
      .then(oidc(2, { isEnabled: false }));
    given(oidc(1, { isEnabled: false }))
      .when(createSsoConfig, draft(2), facts)
      .then(oidc(2));
  });

  it('is refused if enabled beside another of its protocol, but not of the other protocol', () => {
    given(oidc(1))
      .when(createSsoConfig, draft(2, true), facts)
      .thenRefused('conflict', 'another configuration is enabled');
    given(saml(1)).when(createSsoConfig, draft(2, true), facts).then(oidc(2));
  });

  it('refuses to sign requests without a key', () => {
    const signing = {
      config: { ...samlSettings, emailDomains: [], configId: id(1), signRequests: true },
      secret: null,
    };
    given()
      .when(createSsoConfig, signing, { secretRef: null })
      .thenRefused('invalid', 'validation failed: signRequests: needs spSigningKey');
    given()
      .when(createSsoConfig, signing, facts)
      .then(saml(1, { signRequests: true }));
  });

  it('is limited in number', () => {
    const many = Array.from({ length: MAX_CONFIGS }, (_, n) =>
      oidc(n, { isEnabled: false, configId: `77777777-7777-4777-8777-${String(n).padStart(12, '0')}` }),
    );
    given(...many)
      .when(createSsoConfig, draft(1, false), facts)
      .thenRefused('conflict');
  });
});

describe('changing an SSO configuration', () => {
  const updated = (event: SsoEvent): SsoEvent => ({ ...event, type: 'SsoConfigUpdated' }) as SsoEvent;
  const kept = { secretRef: undefined };

  it('keeps omitted fields, including the secret, and ignores fields of the other protocol', () => {
    const outcome = given(oidc(1)).when(
      updateSsoConfig,
      { configId: id(1), changes: { name: 'Entra', idpEntityId: 'x', signRequests: true } },
      kept,
    );
    outcome.then(updated(oidc(1, { name: 'Entra' })));
    outcome.thenForgets();
  });

  it('is none where nothing changes', () => {
    const ignored = { configId: id(1), changes: { name: 'Okta', idpEntityId: 'x' } };
    given(oidc(1)).when(updateSsoConfig, ignored, kept).thenNothing();
  });

  it('replaces or clears the secret and marks the former one as unused', () => {
    for (const secretRef of [NEW_SECRET, null]) {
      const outcome = given(oidc(1)).when(updateSsoConfig, { configId: id(1), changes: {} }, { secretRef });
      outcome.then(updated(oidc(1, { secretRef })));
      outcome.thenForgets(SECRET);
    }
  });

  it('sends a stored client secret to no other issuer', () => {
    const moved = { configId: id(1), changes: { issuerUrl: 'https://elsewhere.example' } };
    given(oidc(1))
      .when(updateSsoConfig, moved, kept)
      .thenRefused('invalid', 'validation failed: clientSecret: is required where issuerUrl changes; null removes it');
    for (const secretRef of [NEW_SECRET, null])
      given(oidc(1))
        .when(updateSsoConfig, moved, { secretRef })
        .then(updated(oidc(1, { issuerUrl: 'https://elsewhere.example', secretRef })));
    given(oidc(1, { secretRef: null }))
      .when(updateSsoConfig, moved, kept)
      .then(updated(oidc(1, { issuerUrl: 'https://elsewhere.example', secretRef: null })));
    given(oidc(1))
      .when(
        updateSsoConfig,
        { configId: id(1), changes: { issuerUrl: oidcSettings.issuerUrl, clientId: 'other' } },
        kept,
      )
      .then(updated(oidc(1, { clientId: 'other' })));
  });

  it('keeps the key while requests are signed', () => {
    given(saml(1, { signRequests: true }))
      .when(updateSsoConfig, { configId: id(1), changes: {} }, { secretRef: null })
      .thenRefused('invalid');
    given(saml(1, { signRequests: true }))
      .when(updateSsoConfig, { configId: id(1), changes: { signRequests: false } }, { secretRef: null })
      .then(updated(saml(1, { secretRef: null })));
  });

  it('enables one per protocol at a time, and changes no protocol', () => {
    given(oidc(1), oidc(2, { isEnabled: false }))
      .when(updateSsoConfig, { configId: id(2), changes: { isEnabled: true } }, kept)
      .thenRefused('conflict');
    given(oidc(1), saml(2, { isEnabled: false }))
      .when(updateSsoConfig, { configId: id(2), changes: { isEnabled: true } }, kept)
      .then(updated(saml(2)));
    given(oidc(1))
      .when(updateSsoConfig, { configId: id(1), protocol: 'saml', changes: {} }, kept)
      .thenRefused('invalid', 'validation failed: protocol: cannot be changed');
    given(oidc(1))
      .when(updateSsoConfig, { configId: id(2), changes: {} }, kept)
      .thenRefused('notFound');
  });

  it('fails after a removal, and the enabled slot is free', () => {
    const gone: SsoEvent = { type: 'SsoConfigDeleted', data: { configId: id(1) } };
    const outcome = given(oidc(1)).when(deleteSsoConfig, { configId: id(1) });
    outcome.then(gone);
    outcome.thenForgets(SECRET);
    given(oidc(1), gone)
      .when(deleteSsoConfig, { configId: id(1) })
      .thenRefused('notFound');
    given(oidc(1), gone, oidc(2, { isEnabled: false }))
      .when(updateSsoConfig, { configId: id(2), changes: { isEnabled: true } }, kept)
      .then(updated(oidc(2)));
  });
});

describe('the key material of a SAML configuration', () => {
  let own: SigningPair;
  let other: SigningPair;
  beforeAll(() => {
    [own, other] = [newSigningPair('castellan'), newSigningPair('somebody else')];
  });
  const vault = {
    put: async () => NEW_SECRET,
    get: async () => Buffer.from(own.privateKeyPem),
    forget: async () => undefined,
  };

  it('is one certificate or a few, and nothing else', () => {
    expect(certificatesOf(own.certificatePem + other.certificatePem)).toHaveLength(2);
    const broken = [
      '',
      'a certificate',
      own.privateKeyPem,
      `${own.certificatePem}and more`,
      own.certificatePem.replace(/[A-Z]{3}/, 'AAA'),
      own.certificatePem.repeat(6),
    ];
    for (const text of broken)
      expect([text.slice(0, 40), isCertificateBundle(text)]).toEqual([text.slice(0, 40), false]);
    expect([isSigningKey(own.privateKeyPem), isSigningKey(own.certificatePem), isSigningKey('')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is validated as a pair, also if only one half changes', async () => {
    const config = { ...samlSettings, emailDomains: [], configId: id(1) };
    const created = (spCertificate: string) =>
      createSsoConfig.prepare!(
        { config: { ...config, spCertificate }, secret: own.privateKeyPem },
        { vault, destinations: reachable },
        context(),
      );
    expect(await created(own.certificatePem)).toEqual({ secretRef: NEW_SECRET });
    expect(isFailure(await created(other.certificatePem))).toBe(true);

    const stored = saml(1, { spCertificate: own.certificatePem });
    const aggregates = { load: async () => new Map([[id(1), stored.data]]) as never };
    const changed = (input: object) =>
      updateSsoConfig.prepare!(
        { configId: id(1), changes: {}, ...input },
        { vault, aggregates, destinations: reachable },
        context(),
      );
    expect(await changed({ changes: { spCertificate: other.certificatePem } })).toMatchObject({ failed: true });
    expect(await changed({ spSigningKey: other.privateKeyPem })).toMatchObject({ failed: true });
    expect(
      await changed({ spSigningKey: other.privateKeyPem, changes: { spCertificate: other.certificatePem } }),
    ).toEqual({ secretRef: NEW_SECRET });
    expect(await changed({ spSigningKey: null })).toEqual({ secretRef: null });
    expect(await changed({ clientSecret: 'of the other protocol' })).toEqual({ secretRef: undefined });
  });
});

describe('the domains of a provider', () => {
  it('limit the e-mails that it may assert, regardless of case and of the part before the last @', () => {
    expect(coversEmail([], 'ann@anywhere.example')).toBe(true);
    expect(coversEmail(['acme.example'], 'Ann@ACME.example')).toBe(true);
    for (const email of [
      'ann@evil.example',
      'ann@sub.acme.example',
      'acme.example@evil.example',
      'ann@acme.example.evil.example',
      'ann',
    ]) {
      expect([email, coversEmail(['acme.example'], email)]).toEqual([email, false]);
    }
  });
});
