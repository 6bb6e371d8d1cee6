import { certificatesOf } from './domain/saml-material.ts';
import type { IssuerProbe } from './probe-issuer.ts';

/** What of a provider's metadata was entered by hand. */
export interface SamlSettings {
  readonly idpEntityId: string;
  readonly idpSsoUrl: string;
  readonly idpCertificate: string;
}

const answer = (success: boolean, message: string, issuer: string | null, endpoint: string | null): IssuerProbe => ({
  success,
  message,
  issuer,
  authorizationEndpoint: endpoint,
  tokenEndpoint: null,
  jwksUri: null,
});

/** There is nobody to ask, so what was entered is looked at: the form was checked before, this is about what works today. */
export function probeSaml({ idpEntityId, idpSsoUrl, idpCertificate }: SamlSettings, now: number): IssuerProbe {
  const certificates = certificatesOf(idpCertificate) ?? [];
  const begun = certificates.filter(({ validFrom }) => Date.parse(validFrom) <= now);
  if (certificates.length === 0) return answer(false, 'the certificate cannot be read', null, null);
  if (begun.length === 0) return answer(false, 'the certificate is not valid yet', null, null);
  if (begun.every(({ validTo }) => Date.parse(validTo) < now))
    return answer(false, 'the certificate has expired', null, null);
  return answer(true, 'the certificate and the addresses are valid', idpEntityId, idpSsoUrl);
}
