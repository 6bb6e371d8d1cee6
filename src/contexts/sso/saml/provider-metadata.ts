import { certificatesOf, pemOf, verifiesSignatures } from '../domain/saml-material.ts';
import { nameIdFormats, nameIdFormatUrn, type NameIdFormat } from '../domain/fields.ts';
import { SamlRefused } from './refused.ts';
import { guardXml } from './xml-guard.ts';
import { attribute, childrenOf, DS, isNamed, type XmlElement } from './xml.ts';

/** What a configuration takes from the metadata of a provider. */
export interface ProviderMetadata {
  readonly idpEntityId: string;
  readonly idpSsoUrl: string;
  readonly idpSloUrl: string | null;
  /** Where responses to its logout requests go, if not there (Metadata §2.2.2). */
  readonly idpSloResponseUrl: string | null;
  /** PEM of every signing key: several while the provider changes its key. */
  readonly idpCertificate: string;
  readonly nameIdFormat: NameIdFormat;
}

/** The metadata cannot be used. The message says why, for the administrator. */
export class MetadataRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'MetadataRefused';
  }
}

/** ADFS sends a hundred kilobytes. A federation's list of all its members does not fit. */
export const MAX_METADATA_BYTES = 256 * 1024;
const BOUNDS = { elements: 10_000, depth: 32 };
const MAX_CERTIFICATES = 5;

/** What an address returns that is that of a console, or that needs a session. */
const WEB_PAGE = /^\uFEFF?\s*<(?:!doctype\s+html|html)\b/i;

const MD = 'urn:oasis:names:tc:SAML:2.0:metadata';
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/**
 * Reads the metadata of one identity provider (Metadata §2.4.3), with `entityId` the one of that name. No document
 * type, no entities, bounded size. A signature is not checked: the administrator vouches for where the text comes from,
 * as with a certificate that they paste. Throws `MetadataRefused`.
 */
export function providerMetadata(text: string, entityId: string | undefined, now: number): ProviderMetadata {
  if (Buffer.byteLength(text) > MAX_METADATA_BYTES)
    throw new MetadataRefused(`is larger than ${MAX_METADATA_BYTES / 1024} KiB`);
  const entity = onlyProvider(rootOf(text), entityId, now);
  const [role] = providerRoles(entity);
  refuseExpired(role!, now);
  const signOn = endpointOf(role!, 'SingleSignOnService');
  const logout = endpointOf(role!, 'SingleLogoutService');
  return {
    idpEntityId: attribute(entity, 'entityID') ?? '',
    idpSsoUrl: signOn.location ?? refuse('has no SingleSignOnService of the binding HTTP-Redirect'),
    idpSloUrl: logout.location ?? null,
    idpSloResponseUrl: logout.responseLocation ?? null,
    idpCertificate: signingCertificates(role!, now),
    nameIdFormat: formatOf(role!),
  };
}

/** Why the text is no XML that can be read, whichever provider is wanted of it. */
export function whyUnreadable(text: string): string | undefined {
  try {
    rootOf(text);
    return undefined;
  } catch (error) {
    if (error instanceof MetadataRefused) return error.message;
    throw error;
  }
}

const refuse = (reason: string): never => {
  throw new MetadataRefused(reason);
};

function rootOf(text: string): XmlElement {
  if (WEB_PAGE.test(text)) refuse('is a web page, not the metadata of a provider: it may need a sign-in');
  try {
    return guardXml(text.replace(/^\uFEFF/, ''), BOUNDS).document.documentElement;
  } catch (error) {
    if (!(error instanceof SamlRefused)) throw error;
    return refuse(error.detail);
  }
}

function onlyProvider(root: XmlElement, entityId: string | undefined, now: number): XmlElement {
  refuseExpired(root, now);
  const isEntity = isNamed(root, MD, 'EntityDescriptor');
  if (!isEntity && !isNamed(root, MD, 'EntitiesDescriptor')) refuse('is not SAML 2.0 metadata');
  const providers = (isEntity ? [root] : childrenOf(root, MD, 'EntityDescriptor')).filter(
    (entity) =>
      providerRoles(entity).length > 0 && (entityId === undefined || attribute(entity, 'entityID') === entityId),
  );
  const [provider, ...others] = providers;
  if (!provider)
    return refuse(entityId === undefined ? 'describes no identity provider' : 'does not describe that entityId');
  if (others.length > 0) refuse('describes several identity providers: name one in entityId');
  refuseExpired(provider, now);
  return provider;
}

const providerRoles = (entity: XmlElement): XmlElement[] =>
  childrenOf(entity, MD, 'IDPSSODescriptor').filter((role) =>
    (attribute(role, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL),
  );

function refuseExpired(element: XmlElement, now: number): void {
  const until = attribute(element, 'validUntil');
  if (until === undefined) return;
  const epoch = Date.parse(until);
  if (Number.isNaN(epoch)) refuse('has a validUntil that is not an instant');
  if (epoch <= now) refuse('has expired (validUntil)');
}

interface Endpoint {
  readonly location: string | undefined;
  readonly responseLocation: string | undefined;
}

function endpointOf(role: XmlElement, service: string): Endpoint {
  const endpoint = childrenOf(role, MD, service).find(
    (each) => attribute(each, 'Binding') === REDIRECT && attribute(each, 'Location') !== undefined,
  );
  if (!endpoint) return { location: undefined, responseLocation: undefined };
  return { location: attribute(endpoint, 'Location'), responseLocation: attribute(endpoint, 'ResponseLocation') };
}

/** Keys for encryption only are left out, and so are keys that cannot verify XML signatures. */
function signingCertificates(role: XmlElement, now: number): string {
  const texts = childrenOf(role, MD, 'KeyDescriptor')
    .filter((key) => (attribute(key, 'use') ?? 'signing') === 'signing')
    .flatMap((key) => childrenOf(key, DS, 'KeyInfo'))
    .flatMap((info) => childrenOf(info, DS, 'X509Data'))
    .flatMap((data) => childrenOf(data, DS, 'X509Certificate'))
    .map(({ textContent }) => pemOf(textContent));
  const usable = [...new Set(texts)].filter(verifiesSignatures);
  const current = usable.filter((pem) => Date.parse(certificatesOf(pem)![0]!.validTo) > now);
  const chosen = (current.length > 0 ? current : usable).slice(0, MAX_CERTIFICATES);
  if (chosen.length === 0) refuse('has no certificate with an RSA key of at least 2048 bits for signing');
  return chosen.join('\n');
}

/** The format that names people best, of those that the provider offers. */
function formatOf(role: XmlElement): NameIdFormat {
  const offered = childrenOf(role, MD, 'NameIDFormat').map(({ textContent }) => textContent.trim());
  if (offered.length === 0) return 'emailAddress';
  const preferred = [...nameIdFormats].toSorted((one, other) => RANK[one] - RANK[other]);
  return preferred.find((name) => offered.includes(nameIdFormatUrn[name])) ?? 'unspecified';
}
const RANK: Readonly<Record<NameIdFormat, number>> = { emailAddress: 0, unspecified: 1, persistent: 2, transient: 3 };
