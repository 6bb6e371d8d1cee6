import { baseAddressField } from '../../../platform/web-addresses/address-field.ts';

/**
 * The URL at which browsers reach the service. Paths are appended to it. Stored as browsers write it (host in lower case and
 * ASCII, no default port) and without a dot at the end of the host: identity providers compare what follows from it
 * character by character.
 */
export const baseUrlField = baseAddressField().overwrite(plainUrl);

function plainUrl(text: string): string {
  const url = new URL(text);
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  return url.href.replace(/\/+$/, '');
}
