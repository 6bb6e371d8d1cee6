import type { FieldError } from '../../../../platform/kernel/failure.ts';
import { parsedUrl } from '../../../../platform/kernel/parsed-url.ts';
import { unreachableLiteral, type OutboundSettings } from '../../../../platform/outbound/destinations.ts';
import { isPlain, plainAddressesIn, textAt } from '../../plain-addresses.ts';

interface Judging {
  readonly config: OutboundSettings;
}

const SAML_ADDRESSES = ['idpSsoUrl', 'idpSloUrl', 'idpSloResponseUrl'];

/** What the installation's configuration allows no new configuration to have. Fields of the other protocol are ignored. */
export const judgeNewConfig = (body: unknown, services: Judging): readonly FieldError[] =>
  textAt(body, 'protocol') === 'saml' ? judgeSaml(body, services) : judgeIssuer(body, services);

const judgeSaml = (body: unknown, { config }: Judging): readonly FieldError[] =>
  plainAddressesIn(body, SAML_ADDRESSES, config);

/** An issuer that is written as an IP address needs no look-up to be judged. */
export function judgeIssuer(body: unknown, { config }: Judging): readonly FieldError[] {
  const address = textAt(body, 'issuerUrl') ?? '';
  if (!parsedUrl(address) || (isPlain(address) && !config.devMode))
    return plainAddressesIn(body, ['issuerUrl'], config);
  const { allowPrivateNetwork = false } = body as { readonly allowPrivateNetwork?: unknown };
  const message = unreachableLiteral(address, config, { allowPrivateNetwork: allowPrivateNetwork === true });
  return message === undefined ? [] : [{ field: 'issuerUrl', message }];
}

/** Of a change: whether its addresses can be reached follows from the stored fields, too. */
export const judgeChanges = (body: unknown, { config }: Judging): readonly FieldError[] =>
  plainAddressesIn(body, ['issuerUrl', ...SAML_ADDRESSES], config);
