import type { IssuerTrust } from '../../src/contexts/sso/domain/fields.ts';
import { invalid, type Failure } from '../../src/platform/kernel/failure.ts';
import type { Destinations } from '../../src/platform/outbound/destinations.ts';

type Issuer = { readonly issuerUrl: string } & Pick<IssuerTrust, 'allowPrivateNetwork' | 'caCertificate'>;

/** An issuer that no sign-in could ever call is refused when it is saved, with the field. */
export async function refuseUnreachableIssuer(
  destinations: Destinations,
  issuer: Issuer,
): Promise<Failure | undefined> {
  const reason = await destinations.unreachable(issuer.issuerUrl, issuer);
  return reason === undefined ? undefined : invalid('issuerUrl', reason);
}

/** Only changes of the address are checked: any other change must stay possible while its name leads elsewhere. */
export const changesReach = (changes: { readonly [Name in keyof Issuer]?: unknown }): boolean =>
  changes.issuerUrl !== undefined || changes.allowPrivateNetwork !== undefined;
