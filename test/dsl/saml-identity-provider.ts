import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { inflateRawSync } from 'node:zlib';
import forge from 'node-forge';
import { rsaKeyPem } from './rsa-keys.ts';

// samlp, a third-party identity provider, has no declarations: this file declares the used part.
const require = createRequire(import.meta.url);
const samlp = require('samlp') as {
  auth(options: object): (request: IncomingMessage, response: ServerResponse, next: (error?: Error) => void) => void;
  getSamlResponse(options: object, user: object, done: (error: Error | null, xml: string) => void): void;
};
const { signXml } = require('samlp/lib/signers') as { signXml(options: object, xml: string): string };

export interface SigningPair {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** A key and a self-signed certificate, as identity providers use them. */
export function newSigningPair(name: string): SigningPair {
  const privateKeyPem = rsaKeyPem();
  const key = forge.pki.privateKeyFromPem(privateKeyPem);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  // Begins with a byte that is neither zero nor above 7f: the only DER encoding of a positive number (X.690 §8.3.2).
  certificate.serialNumber = `5a${randomBytes(8).toString('hex')}`;
  certificate.validity.notBefore = new Date(Date.now() - 86_400_000);
  certificate.validity.notAfter = new Date(Date.now() + 86_400_000);
  const subject = [{ name: 'commonName', value: name }];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.sign(key, forge.md.sha256.create());
  return { certificatePem: forge.pki.certificateToPem(certificate), privateKeyPem };
}

/** The contents of a response; a test makes one of them wrong. */
export interface SamlResponseOptions {
  readonly email: string;
  readonly acsUrl: string;
  readonly audience: string;
  readonly inResponseTo?: string;
  readonly destination?: string;
  readonly recipient?: string;
  readonly issuer?: string;
  readonly lifetimeInSeconds?: number;
  readonly signResponse?: boolean;
  readonly signAssertion?: boolean;
  readonly signatureAlgorithm?: 'rsa-sha256' | 'rsa-sha1';
  readonly digestAlgorithm?: 'sha256' | 'sha1';
  readonly samlStatusCode?: string;
  readonly pair?: SigningPair;
  readonly sessionIndex?: string;
  /** Changes the assertion before it is signed. */
  readonly edit?: (assertionXml: string) => string;
}

export interface SamlIdentityProvider {
  readonly entityId: string;
  readonly ssoUrl: string;
  readonly pair: SigningPair;
  /** The person at the next browser. */
  signsIn(email: string): void;
  /** From now on requests must be signed with the key of this certificate. */
  requireSigned(certificatePem: string): void;
  /** Follows a browser's redirect, and returns the form that the provider fills in. */
  visit(
    address: string,
  ): Promise<{ readonly action: string; readonly samlResponse: string; readonly relayState: string }>;
  /** A response's XML, created without a browser. */
  respond(said: SamlResponseOptions): Promise<string>;
  close(): Promise<void>;
}

export const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';

export async function startSamlIdentityProvider(
  entityId = 'urn:example:identity-provider',
): Promise<SamlIdentityProvider> {
  const pair = newSigningPair('identity provider');
  let email = 'nobody@example.com';
  let spCertificate: string | undefined;
  let sessions = 0;
  const claims = (address: string) => ({
    getClaims: () => ({ email: address, displayName: 'Somebody' }),
    getNameIdentifier: () => ({ nameIdentifier: address, nameIdentifierFormat: EMAIL_FORMAT }),
  });
  const common = { issuer: entityId, cert: pair.certificatePem, key: pair.privateKeyPem, typedAttributes: false };

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider');
    if (pathname !== '/sso') {
      response.statusCode = 204;
      return void response.end();
    }
    const query = Object.fromEntries(searchParams);
    const acsUrl = acsUrlOf(query['SAMLRequest'] ?? '');
    Object.assign(request, { query });
    Object.assign(response, { send: (text: string) => response.end(text), set: response.setHeader.bind(response) });
    const authenticate = samlp.auth({
      ...common,
      lifetimeInSeconds: 300,
      sessionIndex: `_session-${(sessions += 1)}`,
      recipient: acsUrl,
      destination: acsUrl,
      ...(spCertificate ? { signingCert: spCertificate } : {}),
      getPostURL: (_audience: string, _xml: unknown, _request: unknown, done: (error: null, url: string) => void) =>
        done(null, acsUrl),
      getUserFromRequest: () => ({ id: email }),
      profileMapper: () => claims(email),
    });
    authenticate(request, response, (error) => {
      response.statusCode = 400;
      response.end(error ? error.message : 'no request');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ssoUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sso`;

  return {
    entityId,
    ssoUrl,
    pair,
    signsIn: (address) => void (email = address),
    requireSigned: (certificatePem) => void (spCertificate = certificatePem),
    async visit(address) {
      const answer = await fetch(address);
      const html = await answer.text();
      if (answer.status !== 200) throw new Error(`the provider refused: ${html}`);
      const field = (pattern: RegExp) => unescaped(pattern.exec(html)?.[1] ?? '');
      return {
        action: field(/action="([^"]*)"/),
        samlResponse: field(/name="SAMLResponse"\s+value="([^"]*)"/),
        relayState: field(/name="RelayState" value="([^"]*)"/),
      };
    },
    async respond({
      email: address,
      acsUrl,
      edit,
      pair: signer = pair,
      destination = acsUrl,
      recipient = acsUrl,
      ...said
    }) {
      const { signAssertion = true, signResponse = false, ...rest } = said;
      const answer = (options: object) =>
        new Promise<string>((resolve, reject) =>
          samlp.getSamlResponse(
            {
              ...common,
              cert: signer.certificatePem,
              key: signer.privateKeyPem,
              lifetimeInSeconds: 300,
              signatureAlgorithm: 'rsa-sha256',
              digestAlgorithm: 'sha256',
              destination,
              recipient,
              profileMapper: () => claims(address),
              ...rest,
              ...options,
            },
            { id: address },
            (error, xml) => (error ? reject(error) : resolve(xml)),
          ),
        );
      if (!edit) return answer({ signAssertion, signResponse });
      const unsigned = await answer({ signAssertion: false });
      const edited = edit(assertionIn(unsigned));
      if (edited === assertionIn(unsigned)) throw new Error('the edit changed nothing');
      return unsigned.replace(assertionIn(unsigned), signed(edited, signer));
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export const assertionIn = (xml: string): string => /<saml:Assertion[^]*<\/saml:Assertion>/.exec(xml)![0];
export const signatureIn = (xml: string): string => /<Signature[^]*<\/Signature>/.exec(xml)![0];

/** Signs a standalone assertion. */
export const signed = (assertionXml: string, { certificatePem, privateKeyPem }: SigningPair): string =>
  signXml({ reference: "//*[local-name(.)='Assertion']", cert: certificatePem, key: privateKeyPem }, assertionXml);

function acsUrlOf(samlRequest: string): string {
  const xml = samlRequest === '' ? '' : inflateRawSync(Buffer.from(samlRequest, 'base64')).toString();
  return unescaped(/AssertionConsumerServiceURL="([^"]*)"/.exec(xml)?.[1] ?? '');
}

const unescaped = (text: string): string =>
  text.replaceAll(/&(#\d+|\w+);/g, (whole, name: string) => {
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)));
    return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name] ?? whole;
  });
