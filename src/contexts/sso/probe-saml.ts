import { certificatesOf } from './domain/saml-material.ts';
import type { IssuerProbe } from './probe-issuer.ts';

/** The manually entered part of a provider's metadata. */
export interface SamlSettings {
  readonly idpEntityId: string;
  readonly idpSsoUrl: string;
  readonly idpCertificate: string;
}

const result = (success: boolean, message: string, issuer: string | null, endpoint: string | null): IssuerProbe => ({
  success,
  message,
  issuer,
  authorizationEndpoint: endpoint,
  tokenEndpoint: null,
  jwksUri: null,
});

/**
 * There is no endpoint to query, so this checks the settings themselves. Their form was validated before; this checks
 * whether the certificates are valid now.
 */
export function probeSaml({ idpEntityId, idpSsoUrl, idpCertificate }: SamlSettings, now: number): IssuerProbe {
  const certificates = certificatesOf(idpCertificate) ?? [];
  const begun = certificates.filter(({ validFrom }) => Date.parse(validFrom) <= now);
  if (certificates.length === 0) return result(false, 'the certificate cannot be read', null, null);
  if (begun.length === 0) return result(false, 'the certificate is not valid yet', null, null);
  if (begun.every(({ validTo }) => Date.parse(validTo) < now))
    return result(false, 'the certificate has expired', null, null);
  return result(true, 'the certificate and the addresses are valid', idpEntityId, idpSsoUrl);
}
