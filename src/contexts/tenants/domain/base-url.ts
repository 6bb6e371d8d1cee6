import { baseAddressField } from '../../../platform/web-addresses/address-field.ts';

/**
 * The URL at which browsers reach the service. Paths are appended to it. Stored as browsers write it (host in lower case and
 * ASCII, no default port): identity providers compare what follows from it character by character.
 */
export const baseUrlField = baseAddressField().overwrite((text) => new URL(text).href.replace(/\/+$/, ''));
